#pragma once

#include <inlay/core/hash.hpp>

#include <bit>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// A random order of 0 .. size-1 that needs no memory: place → item is computed, not stored.
///
/// A Feistel network over the next even power of two, walked until it lands inside (at most four
/// times as many places as items, so under four steps on average). Every rank can read any range of
/// a shuffled epoch without having seen the rest.
class permutation {
 public:
  /// Of the numbers below `size`.
  constexpr permutation(std::uint64_t size, std::uint64_t seed) noexcept
      : size_(size),
        seed_(mix(seed)),  // else seed + 1 has five of the six rounds of seed
        half_bits_(size < 2 ? 1U : (static_cast<unsigned>(std::bit_width(size - 1)) + 1U) / 2U) {}

  /// How many numbers there are.
  [[nodiscard]] constexpr std::uint64_t size() const noexcept { return size_; }

  /// The item at `place`; requires place < size.
  [[nodiscard]] constexpr std::uint64_t operator()(std::uint64_t place) const noexcept {
    do {
      place = shuffle_bits(place);
    } while (place >= size_);
    return place;
  }

 private:
  [[nodiscard]] constexpr std::uint64_t shuffle_bits(std::uint64_t value) const noexcept {
    auto const mask = (std::uint64_t{1} << half_bits_) - 1;
    auto left = value >> half_bits_;
    auto right = value & mask;
    for (std::uint64_t round = 0; round < 6; ++round) {
      auto const mixed = left ^ (mix(seed_ + round, right) & mask);
      left = right;
      right = mixed;
    }
    return (left << half_bits_) | right;
  }

  std::uint64_t size_;
  std::uint64_t seed_;
  unsigned half_bits_;
};

}  // namespace inlay::inline INLAY_ABI
