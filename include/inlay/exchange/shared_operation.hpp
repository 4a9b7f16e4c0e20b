#pragma once

#include <inlay/core/row_math.hpp>
#include <inlay/exchange/collective_call.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// An operation of several ranks in one process: who has come with what, how far each is, and the
/// movement of bytes. Calls that say so may run side by side; for all others the caller has a lock.
class shared_operation {
 public:
  /// How far a rank is.
  enum class progress : std::uint8_t {
    absent,  ///< it has not come
    came,    ///< its memory may be read
    summed,  ///< the sums of its slice may be read; all_reduce only
    read,    ///< it has read what is its own
    left     ///< it will not be seen again
  };

  /// Ranks that somebody waits for, [first, last), and how far they must be.
  struct awaited {
    std::size_t first = 0;                 ///< the first of the ranks
    std::size_t last = 0;                  ///< one behind the last
    progress at_least = progress::absent;  ///< how far
  };

  /// To which nobody has come yet.
  shared_operation(std::size_t ranks, collective operation, std::uint64_t number)
      : operation_(operation), number_(number), calls_(ranks), progress_(ranks) {}

  /// Which it is.
  [[nodiscard]] collective operation() const noexcept { return operation_; }
  /// By which sentences call it: "all_gather number 7".
  [[nodiscard]] std::string words() const {
    return std::string(name_of(operation_)) + " number " + std::to_string(number_);
  }

  /// What is wrong with a call beside those that have come, or an empty string.
  [[nodiscard]] std::string misfit_of(std::size_t rank, collective_call const& call) const {
    for (std::size_t other = 0; other < calls_.size(); ++other) {
      if (progress_[other] == progress::absent) continue;
      auto wrong = misfit(number_, rank, call, other, calls_[other]);
      if (!wrong.empty()) return wrong;
    }
    return {};
  }

  /// The rank is here, with this.
  void come(std::size_t rank, collective_call call) {
    calls_[rank] = std::move(call);
    progress_[rank] = progress::came;
  }
  /// The rank is as far as that; `absent` if nobody may read its memory.
  void set(std::size_t rank, progress how_far) noexcept { progress_[rank] = how_far; }

  /// The ranks of `who` that are not as far.
  [[nodiscard]] std::vector<std::size_t> behind(awaited const& who) const {
    std::vector<std::size_t> ranks;
    for (auto rank = who.first; rank < who.last; ++rank) {
      if (progress_[rank] < who.at_least) ranks.push_back(rank);
    }
    return ranks;
  }
  /// True if all ranks of `who` are as far.
  [[nodiscard]] bool met(awaited const& who) const noexcept {
    return std::all_of(progress_.begin() + static_cast<std::ptrdiff_t>(who.first),
                       progress_.begin() + static_cast<std::ptrdiff_t>(who.last),
                       [&](progress how_far) { return how_far >= who.at_least; });
  }
  /// All ranks, as far as that.
  [[nodiscard]] awaited everybody(progress at_least) const noexcept {
    return {0, calls_.size(), at_least};
  }
  /// Whose memory the rank's `read` needs.
  [[nodiscard]] awaited before_read(std::size_t rank) const noexcept {
    if (operation_ != collective::broadcast) return everybody(progress::came);
    auto const root = calls_[rank].root;
    return {root, root + 1, progress::came};
  }
  /// Who must have read before a rank may have its memory back.
  [[nodiscard]] awaited before_leave(std::size_t rank) const noexcept {
    if (operation_ != collective::broadcast || calls_[rank].root == rank) {
      return everybody(progress::read);
    }
    return {rank, rank + 1, progress::read};
  }

  /// How many ranks are inside `read` or `read_sums` now.
  std::size_t readers = 0;

  /// Reads what is the rank's own; of an all_reduce, sums the slice that is its own in the order of
  /// ranks, over its values. May run side by side for several ranks.
  void read(std::size_t rank) const noexcept {
    switch (operation_) {
    case collective::all_to_all_v:
      return read_parts(rank);
    case collective::all_gather:
      return read_all(rank);
    case collective::all_reduce:
      return sum_slice(rank);
    case collective::broadcast:
      return read_root(rank);
    case collective::barrier:
      return;
    }
  }

  /// Reads the other slices of an all_reduce when all are summed. May run side by side.
  void read_sums(std::size_t rank) const noexcept {
    for (std::size_t peer = 0; peer < calls_.size(); ++peer) {
      auto const first = slice_begin(peer);
      if (peer == rank) continue;
      std::copy_n(values(peer) + first, slice_begin(peer + 1) - first, values(rank) + first);
    }
  }

 private:
  [[nodiscard]] float* values(std::size_t rank) const noexcept {
    return reinterpret_cast<float*>(calls_[rank].receive);
  }
  [[nodiscard]] std::size_t slice_begin(std::size_t rank) const noexcept {
    return calls_[0].bytes / sizeof(float) * rank / calls_.size();
  }

  void read_parts(std::size_t rank) const noexcept {
    auto* to = calls_[rank].receive;
    for (auto const& from : calls_) {
      auto const before = detail::sum_of({from.send_counts.data(), rank});
      to = std::copy_n(from.send + before, from.send_counts[rank], to);
    }
  }
  void read_all(std::size_t rank) const noexcept {
    auto* to = calls_[rank].receive;
    for (auto const& from : calls_) {
      to = std::copy_n(from.send, from.bytes, to);
    }
  }
  void read_root(std::size_t rank) const noexcept {
    auto const root = calls_[rank].root;
    if (rank == root) return;
    std::copy_n(calls_[root].receive, calls_[rank].bytes, calls_[rank].receive);
  }

  /// Nobody else reads this slice of the rank's own values, so the sums can go there.
  void sum_slice(std::size_t rank) const noexcept {
    constexpr std::size_t block = 256;
    auto const end = slice_begin(rank + 1);
    for (auto first = slice_begin(rank); first < end; first += block) {
      float sums[block];
      auto const count = std::min(block, end - first);
      std::copy_n(values(0) + first, count, sums);
      for (std::size_t peer = 1; peer < calls_.size(); ++peer) {
        add(sums, values(peer) + first, count);
      }
      std::copy_n(sums, count, values(rank) + first);
    }
  }

  collective operation_;
  std::uint64_t number_;
  std::vector<collective_call> calls_;  // (ranks)
  std::vector<progress> progress_;      // (ranks)
};

}  // namespace inlay::inline INLAY_ABI
