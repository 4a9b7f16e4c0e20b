#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/core/views.hpp>
#include <inlay/sim/access_trace.hpp>
#include <inlay/sim/replayed.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace inlay::inline INLAY_ABI {

namespace detail {

/// The next uses of cached rows, the farthest on top.
///
/// A use that is over comes before all that are ahead, so it never gets to the top, and what a hit
/// leaves behind need not be looked for: it is swept out when half of all is such.
class uses_ahead {
 public:
  explicit uses_ahead(std::size_t rows) : rows_(rows) {}

  /// Of a row that is used now.
  void add(std::int64_t use, std::int64_t now) {
    if (uses_.size() >= 2 * rows_ + 64) {
      std::erase_if(uses_, [&](std::int64_t known) { return known <= now; });
      std::make_heap(uses_.begin(), uses_.end());
    }
    uses_.push_back(use);
    std::push_heap(uses_.begin(), uses_.end());
  }

  /// The farthest; it is forgotten.
  [[nodiscard]] std::int64_t take() {
    std::pop_heap(uses_.begin(), uses_.end());
    auto const farthest = uses_.back();
    uses_.pop_back();
    return farthest;
  }

 private:
  std::size_t rows_;
  std::vector<std::int64_t> uses_;
};

}  // namespace detail

/// The most hits that a policy can have which brings every missed row in: the row whose next use is
/// farthest away leaves (Belady, "A study of replacement algorithms for a virtual-storage
/// computer", 1966). Requests come one by one, O(log capacity) each.
[[nodiscard]] inline replayed belady(access_trace const& trace, std::size_t capacity) {
  expects(capacity > 0, "a cache needs at least one row");
  auto const numbers = trace.numbers();
  auto const next = trace.next_uses();
  auto const end = static_cast<std::int64_t>(trace.size());
  detail::uses_ahead uses(std::min(capacity, trace.distinct()));
  std::vector<std::uint8_t> is_cached(trace.distinct(), 0);
  std::size_t used = 0;
  replayed result{.requests = trace.size(), .unique = trace.size()};
  for (std::int64_t now = 0; now < end; ++now) {
    auto const row = numbers[static_cast<std::size_t>(now)];
    if (is_cached[row] != 0) {
      ++result.hits;
    } else {
      ++result.misses;
      is_cached[row] = 1;
      if (used < capacity) {
        ++used;
      } else {
        auto const use = uses.take();
        is_cached[use < end ? numbers[static_cast<std::size_t>(use)]
                            : static_cast<std::size_t>(use - end)] = 0;
        ++result.evictions;
      }
    }
    // Rows that are never used again lie behind the end, each at a place of its own.
    auto const use = next[static_cast<std::size_t>(now)];
    uses.add(use == access_trace::never ? end + row : use, now);
  }
  return result;
}

}  // namespace inlay::inline INLAY_ABI
