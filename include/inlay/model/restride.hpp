#pragma once

#include <inlay/core/config.hpp>

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace inlay::inline INLAY_ABI {

/// Copies `count` vectors of `width` floats from one stride to another, first to last.
///
/// A vector of, say, 15 floats is copied as 16, in two instructions instead of a loop with a tail.
/// The excess lands where the next vector goes, or between the two; the last vectors are copied
/// exactly.
inline void restride(float const* from, std::size_t from_stride, float* to, std::size_t to_stride,
                     std::size_t width, std::size_t count) noexcept {
  constexpr std::size_t block = 16;
  auto const rounded = (width + block - 1) / block * block;
  auto const closer = std::min(from_stride, to_stride);
  std::size_t at = 0;
  for (; at < count && (count - 1 - at) * closer + width >= rounded; ++at) {
    for (std::size_t first = 0; first < rounded; first += block) {
      std::memcpy(to + at * to_stride + first, from + at * from_stride + first,
                  block * sizeof(float));
    }
  }
  for (; at < count; ++at) {
    std::copy_n(from + at * from_stride, width, to + at * to_stride);
  }
}

}  // namespace inlay::inline INLAY_ABI
