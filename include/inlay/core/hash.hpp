#pragma once

#include <inlay/core/config.hpp>

#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Mixes 64 bits so that every input bit moves every output bit; a bijection, the same everywhere.
/// The finaliser of SplitMix64 (Steele, Lea and Flood, "Fast splittable pseudorandom number
/// generators").
[[nodiscard]] INLAY_HD constexpr std::uint64_t mix(std::uint64_t bits) noexcept {
  bits = (bits ^ (bits >> 30U)) * 0xbf58476d1ce4e5b9U;
  bits = (bits ^ (bits >> 27U)) * 0x94d049bb133111ebU;
  return bits ^ (bits >> 31U);
}

/// Hash of two words, in this order.
[[nodiscard]] INLAY_HD constexpr std::uint64_t mix(std::uint64_t first,
                                                   std::uint64_t second) noexcept {
  return mix(mix(first + 0x9e3779b97f4a7c15U) ^ second);
}

}  // namespace inlay::inline INLAY_ABI
