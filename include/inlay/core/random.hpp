#pragma once

#include <inlay/core/hash.hpp>

#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Random numbers by counter: draw `n` of stream `key` depends on (key, n) alone.
///
/// No state moves on, so a row, a sample or a shuffle comes out the same in whatever order, on
/// whatever thread, rank or device it is made. It is SplitMix64 with random access to its sequence.
struct random_stream {
  std::uint64_t key = 0;  ///< what sets the stream apart from others

  /// 64 random bits: a function of key and counter.
  [[nodiscard]] INLAY_HD constexpr std::uint64_t bits(std::uint64_t counter) const noexcept {
    return mix(key + (counter + 1) * 0x9e3779b97f4a7c15U);
  }

  /// In [0, 1), a multiple of 2^-24: exact in float, so equal on every machine.
  [[nodiscard]] INLAY_HD constexpr float uniform(std::uint64_t counter) const noexcept {
    return static_cast<float>(bits(counter) >> 40U) * 0x1p-24F;
  }

  /// In [0, 1), a multiple of 2^-53.
  [[nodiscard]] INLAY_HD constexpr double uniform_double(std::uint64_t counter) const noexcept {
    return static_cast<double>(bits(counter) >> 11U) * 0x1p-53;
  }

  /// Mean 0, variance 1 (up to 1e-9): the sum of twelve 16-bit uniforms, less its mean. Added in
  /// integers, so equal on every machine; never beyond 6.
  [[nodiscard]] INLAY_HD constexpr float normal(std::uint64_t counter) const noexcept {
    std::int32_t sum = 0;
    for (std::uint64_t word = 0; word < 3; ++word) {
      auto const four = bits(3 * counter + word);
      for (unsigned shift = 0; shift < 64; shift += 16) {
        sum += static_cast<std::int32_t>((four >> shift) & 0xffffU);
      }
    }
    return static_cast<float>(2 * sum - 12 * 0xffff) * 0x1p-17F;
  }
};

}  // namespace inlay::inline INLAY_ABI
