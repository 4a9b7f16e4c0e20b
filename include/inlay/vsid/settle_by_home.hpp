#pragma once

#include <inlay/core/host_exec.hpp>
#include <inlay/core/prefetch.hpp>
#include <inlay/core/views.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

namespace detail {

/// Lines that only one thread touches, and the keys whose homes they are but that need others too.
struct alignas(128) line_range {
  static constexpr std::size_t block = 256;  // keys whose homes are listed before any is settled

  std::size_t first = 0;
  std::size_t end = 0;
  std::size_t seen = 0;  // keys; not all of them if there was no room to note more
  std::size_t noted = 0;
  std::array<std::uint32_t, block + 32> unsettled;

  [[nodiscard]] bool has(std::size_t home) const noexcept { return home - first < end - first; }
  [[nodiscard]] bool has_room() const noexcept { return noted + block <= unsettled.size(); }

  /// Goes through all keys and settles its own, as long as those that it can't can be noted.
  template <class HomeOf, class Ask, class TryOne>
  void settle(std::size_t keys, HomeOf const& home_of, Ask const& ask, TryOne const& try_one) {
    std::array<std::uint32_t, block> mine;
    std::array<std::size_t, block> homes;
    while (seen < keys && has_room()) {
      auto const last = std::min(seen + block, keys);
      std::size_t count = 0;
      for (; seen < last; ++seen) {
        auto const home = home_of(seen);
        mine[count] = static_cast<std::uint32_t>(seen);  // in any case: whose it is can't be
        homes[count] = home;                             // foretold
        count += has(home) ? 1U : 0U;
      }
      with_prefetch<32>(
          count, [&](std::size_t n) { ask(homes[n]); },
          [&](std::size_t n) {
            if (!try_one(mine[n], homes[n], end)) unsettled[noted++] = mine[n];
          });
    }
  }
};

}  // namespace detail

/// Changes an open-addressed index for many keys, threads side by side: each takes the keys whose
/// homes are among lines of its own, so no two ever meet. Each looks at every key's home, which is
/// cheap beside the line behind it. Needs no memory.
///
/// `home_of(i)` is the line where key i belongs, `ask(home)` fetches it, and `try_one(i, home,
/// end)` settles the key if it needs no line from `end` on, else returns false. What is left, next
/// to nothing, is settled by `one(i, home)` when all threads are through.
template <class HomeOf, class Ask, class TryOne, class One>
void settle_by_home(host_exec const& exec, std::size_t lines, std::size_t keys,
                    HomeOf const& home_of, Ask const& ask, TryOne const& try_one, One const& one) {
  std::array<detail::line_range, 32> ranges;
  auto const count = std::min({ranges.size(), exec.threads(), lines});
  exec.for_each(count, [&](std::size_t r) {
    ranges[r].first = lines * r / count;
    ranges[r].end = lines * (r + 1) / count;
    ranges[r].settle(keys, home_of, ask, try_one);
  });
  for (std::size_t r = 0; r < count; ++r) {
    auto const& range = ranges[r];
    for (std::size_t n = 0; n < range.noted; ++n) {
      one(range.unsettled[n], home_of(range.unsettled[n]));
    }
    for (auto i = range.seen; i < keys; ++i) {
      if (range.has(home_of(i))) one(i, home_of(i));
    }
  }
}

}  // namespace inlay::inline INLAY_ABI
