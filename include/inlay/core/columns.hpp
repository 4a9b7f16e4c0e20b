#pragma once

#include <inlay/core/config.hpp>

#include <cmath>
#include <cstddef>
#include <cstring>

#if INLAY_HAS_VECTORS
#include <xmmintrin.h>
#endif

namespace inlay::inline INLAY_ABI {

/// Columns of a row that are treated at once: one if `Value` is float, else as many as it has.
template <class Value>
struct columns {
  std::size_t first = 0;  ///< the first of them

  /// `value` in each of them.
  [[nodiscard]] INLAY_HD static Value all(float value) noexcept { return Value{} + value; }
  /// Their values in a row.
  [[nodiscard]] INLAY_HD Value load(float const* row) const noexcept {
    Value values;
    std::memcpy(&values, row + first, sizeof values);
    return values;
  }
  /// Writes them to a row.
  INLAY_HD void store(float* row, Value const& values) const noexcept {
    std::memcpy(row + first, &values, sizeof values);
  }
};

/// As std::sqrt, and the same for several columns side by side.
[[nodiscard]] INLAY_HD inline float square_root(float value) noexcept { return std::sqrt(value); }

#if INLAY_HAS_VECTORS
/// Four columns side by side. Compilers know the type: it adds, multiplies and compares.
using four_floats = float __attribute__((vector_size(16)));

/// Correctly rounded, as std::sqrt is; a loop over std::sqrt does not vectorise where it may set
/// errno, which is how most programs are compiled.
[[nodiscard]] inline four_floats square_root(four_floats values) noexcept {
  return _mm_sqrt_ps(values);
}
#endif

/// Calls `body(columns)` for all columns of a row: four at a time, and those that are left one by
/// one. Vectorised whatever the flags of the program, and a column's result does not depend on the
/// width, for there is one body. It should have one product in a sum at most, so that there is one
/// way to fuse the two. It should hold what it needs by value: what it stores may be, for all that
/// a compiler knows, what it refers to.
template <class Body>
[[gnu::always_inline]] INLAY_HD inline void for_columns(std::size_t dim, Body const& body) {
  std::size_t column = 0;
#if INLAY_HAS_VECTORS
  for (; column + 4 <= dim; column += 4) {
    body(columns<four_floats>{column});
  }
#endif
  for (; column < dim; ++column) {
    body(columns<float>{column});
  }
}

}  // namespace inlay::inline INLAY_ABI
