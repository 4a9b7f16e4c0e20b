#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/sim/access_trace.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

namespace detail {

/// Places of a line, some marked, and how many are before another: a bit each, and a Fenwick tree
/// over the counts of 64.
class marked_places {
 public:
  explicit marked_places(std::size_t size) {
    bits_.assign(size / 64 + 1, 0);
    sums_.assign(size / 64 + 2, 0);
  }

  void mark(std::size_t place) noexcept {
    bits_[place / 64] |= std::uint64_t{1} << (place % 64);
    add(place, 1);
  }
  void unmark(std::size_t place) noexcept {
    bits_[place / 64] &= ~(std::uint64_t{1} << (place % 64));
    add(place, ~std::uint32_t{0});
  }
  /// How many are marked before `place`.
  [[nodiscard]] std::size_t before(std::size_t place) const noexcept {
    auto const below = (std::uint64_t{1} << (place % 64)) - 1;
    auto count = static_cast<std::uint32_t>(std::popcount(bits_[place / 64] & below));
    for (auto node = place / 64; node > 0; node &= node - 1) {
      count += sums_[node];
    }
    return count;
  }

 private:
  void add(std::size_t place, std::uint32_t count) noexcept {
    for (auto node = place / 64 + 1; node < sums_.size(); node += node & (~node + 1)) {
      sums_[node] += count;
    }
  }

  buffer<std::uint64_t> bits_;
  buffer<std::uint32_t> sums_;  // modulo 2^32, so that to add its greatest is to take one away
};

}  // namespace detail

/// The hits of LRU at every capacity at once, exactly as `cache_simulator` has them.
///
/// A request hits if fewer rows than the capacity were used since its row was last used; so one
/// pass that counts these distances gives all capacities (Mattson et al., "Evaluation techniques
/// for storage hierarchies", 1970). O(log requests) each.
class miss_ratio_curve {
 public:
  /// Of a trace, request by request.
  explicit miss_ratio_curve(access_trace const& trace) : requests_(trace.size()) {
    hits_.assign(trace.distinct() + 1, 0);
    detail::marked_places last_uses(trace.size());
    buffer<std::uint32_t> last;  // (distinct)
    last.assign(trace.distinct(), unused);
    auto const numbers = trace.numbers();
    std::size_t seen = 0;
    for (std::size_t now = 0; now < numbers.size(); ++now) {
      auto& place = last[numbers[now]];
      if (place == unused) {
        ++seen;
      } else {
        ++hits_[seen - last_uses.before(place)];  // the row itself is the last of these
        last_uses.unmark(place);
      }
      last_uses.mark(now);
      place = static_cast<std::uint32_t>(now);
    }
    for (std::size_t rows = 1; rows < hits_.size(); ++rows) {
      hits_[rows] += hits_[rows - 1];
    }
  }

  /// Requests of the trace.
  [[nodiscard]] std::uint64_t requests() const noexcept { return requests_; }
  /// Distinct rows of the trace: a larger cache has no more hits.
  [[nodiscard]] std::size_t rows() const noexcept { return hits_.size() - 1; }
  /// Hits of a cache of so many rows; without a row there are none.
  [[nodiscard]] std::uint64_t hits(std::size_t capacity) const noexcept {
    return hits_[std::min(capacity, rows())];
  }
  /// Misses of such a cache over requests; 0 without a request.
  [[nodiscard]] double miss_ratio(std::size_t capacity) const noexcept {
    if (requests_ == 0) return 0.0;
    return static_cast<double>(requests_ - hits(capacity)) / static_cast<double>(requests_);
  }

 private:
  static constexpr std::uint32_t unused = ~std::uint32_t{0};

  std::uint64_t requests_;
  buffer<std::uint64_t> hits_;  // (rows + 1), by capacity
};

}  // namespace inlay::inline INLAY_ABI
