#pragma once

#include <inlay/core/config.hpp>

#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// base^exponent for a base of zero to one, by squaring: a few dozen products at most, and none
/// once it has underflowed. Products alone, so the same on every machine.
[[nodiscard]] INLAY_HD constexpr double power(double base, std::uint64_t exponent) noexcept {
  double result = 1.0;
  for (; exponent > 0 && result > 0.0; exponent /= 2) {
    if (exponent % 2 == 1) result *= base;
    base *= base;
  }
  return result;
}

}  // namespace inlay::inline INLAY_ABI
