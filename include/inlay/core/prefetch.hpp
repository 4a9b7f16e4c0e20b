#pragma once

#include <inlay/core/config.hpp>

#include <algorithm>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// Asks for the cache line of `at`, which will be read or written soon; nothing happens on a
/// device, nor where there is no memory at `at`. (Not plain `prefetch`: Boost calls a function of
/// that name without saying whose, and finds one for keys of ours.)
INLAY_HD inline void prefetch_line([[maybe_unused]] void const* at) noexcept {
#if !defined(__CUDA_ARCH__)
  __builtin_prefetch(at);
#endif
}

/// Asks for all cache lines of `bytes` from `first` on.
INLAY_HD inline void prefetch_lines(void const* first, std::size_t bytes) noexcept {
  constexpr std::size_t line = 64;
  if (bytes == 0) return;
  auto const* const begin = static_cast<char const*>(first);
  for (std::size_t at = 0; at + 1 < bytes; at += line) {
    prefetch_line(begin + at);
  }
  prefetch_line(begin + bytes - 1);  // what does not begin on a line ends on one more
}

/// Calls visit(i) for every i of [0, count) in order, and ahead(i) `Distance` visits before: a loop
/// whose memory is on its way when it comes.
template <std::size_t Distance, class Ahead, class Visit>
void with_prefetch(std::size_t count, Ahead&& ahead, Visit&& visit) {
  for (std::size_t i = 0; i < std::min(Distance, count); ++i) {
    ahead(i);
  }
  std::size_t i = 0;
  for (; i + Distance < count; ++i) {
    ahead(i + Distance);
    visit(i);
  }
  for (; i < count; ++i) {
    visit(i);
  }
}

}  // namespace inlay::inline INLAY_ABI
