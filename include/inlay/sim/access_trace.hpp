#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/core/views.hpp>
#include <inlay/vsid/key_index.hpp>
#include <inlay/vsid/keys.hpp>
#include <inlay/vsid/number_keys.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// Rows in the order in which they were asked for, and where the batches end that asked for them.
///
/// The keys are numbered once, so that whoever replays the trace, again and again, finds what it
/// knows of a row at a place of an array instead of in a hash table.
class access_trace {
 public:
  using key = narrow::key;

  /// Says that a row is not used again.
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  /// A trace holds fewer.
  static constexpr std::size_t most_requests = key_index<key>::absent;

  /// Without a request.
  access_trace() = default;

  /// Of these keys. `batch_ends`: of each batch one behind its last request, ascending, the last
  /// one the number of keys; or none, where nothing is known of batches.
  explicit access_trace(buffer<key> keys, buffer<std::uint32_t> batch_ends = {})
      : keys_(std::move(keys)), batch_ends_(std::move(batch_ends)) {
    expects(keys_.size() < most_requests, "a trace holds at most 2^32 - 2 requests");
    require_ends();
    numbers_.resize(keys_.size());
    buffer<key> unique(keys_.size());
    buffer<std::uint32_t> counts(keys_.size());
    key_index<key> index;
    distinct_ = number_keys(std::as_const(keys_).view(), index, numbers_.data(), unique.data(),
                            counts.data());
  }

  /// How many requests there are.
  [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }
  /// How many rows they are for.
  [[nodiscard]] std::size_t distinct() const noexcept { return distinct_; }
  /// What is asked for. // (size)
  [[nodiscard]] span<key const> keys() const noexcept { return keys_.view(); }
  /// The same as numbers below `distinct`, in order of first appearance. // (size)
  [[nodiscard]] span<virtual_id const> numbers() const noexcept { return numbers_.view(); }
  /// One behind the last request of each batch; empty where nothing is known of batches.
  [[nodiscard]] span<std::uint32_t const> batch_ends() const noexcept { return batch_ends_.view(); }

  /// For each request the place of the next one for the same row; `never` where there is none. //
  /// (size)
  [[nodiscard]] buffer<std::int64_t> next_uses() const {
    buffer<std::int64_t> next(size());
    buffer<std::int64_t> coming;
    coming.assign(distinct(), never);
    for (auto at = size(); at-- > 0;) {
      next[at] = std::exchange(coming[numbers_[at]], static_cast<std::int64_t>(at));
    }
    return next;
  }

 private:
  void require_ends() const {
    if (batch_ends_.empty()) return;
    expects(std::is_sorted(batch_ends_.begin(), batch_ends_.end()),
            "the ends of a trace's batches must ascend");
    expects(batch_ends_[batch_ends_.size() - 1] == keys_.size(),
            "the last batch of a trace must end where the trace does");
  }

  buffer<key> keys_;
  buffer<virtual_id> numbers_;
  buffer<std::uint32_t> batch_ends_;
  std::size_t distinct_ = 0;
};

}  // namespace inlay::inline INLAY_ABI
