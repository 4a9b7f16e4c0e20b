#pragma once

#include <inlay/core/config.hpp>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace inlay::inline INLAY_ABI {

// Loops over one row. They vectorise as they stand; a column's result never depends on the width.

/// into += row. // (dim)
INLAY_HD inline void add(float* __restrict into, float const* __restrict row,
                         std::size_t dim) noexcept {
  for (std::size_t i = 0; i < dim; ++i) {
    into[i] += row[i];
  }
}

/// into += factor * row. // (dim)
INLAY_HD inline void add(float* __restrict into, float const* __restrict row, float factor,
                         std::size_t dim) noexcept {
  for (std::size_t i = 0; i < dim; ++i) {
    into[i] += factor * row[i];
  }
}

/// row *= factor. // (dim)
INLAY_HD inline void scale(float* row, float factor, std::size_t dim) noexcept {
  for (std::size_t i = 0; i < dim; ++i) {
    row[i] *= factor;
  }
}

namespace detail {

#if INLAY_HAS_VECTORS
using eight_floats = float __attribute__((vector_size(32)));
using sixteen_floats = float __attribute__((vector_size(64)));
#endif

/// Keeps a compiler from computing products of several rows side by side before it adds them one by
/// one: it would no longer fuse the two, and a column alone would differ from one among eight.
inline void keep_in_order([[maybe_unused]] float& sum) noexcept {
#if INLAY_HAS_VECTORS
  asm volatile("" : "+x"(sum));
#endif
}
template <class Vector>
inline void keep_in_order(Vector&) noexcept {}

/// Some columns of `sum_rows`, in a register. Vectors are written out: left to itself, a compiler
/// may go along the rows instead of the columns.
template <class Columns, class RowOf>
inline void sum_columns(float* into, std::size_t first, std::size_t count,
                        RowOf const& row_of) noexcept {
  Columns sums;
  std::memcpy(&sums, row_of(0) + first, sizeof sums);
  for (std::size_t i = 1; i < count; ++i) {
    Columns row;
    std::memcpy(&row, row_of(i) + first, sizeof row);
    sums += row;
  }
  std::memcpy(into + first, &sums, sizeof sums);
}

/// The same with factors.
template <class Columns, class RowOf, class FactorOf>
inline void sum_columns(float* into, std::size_t first, std::size_t count, RowOf const& row_of,
                        FactorOf const& factor_of) noexcept {
  Columns sums{};
  for (std::size_t i = 0; i < count; ++i) {
    Columns row;
    std::memcpy(&row, row_of(i) + first, sizeof row);
    sums += factor_of(i) * row;
    keep_in_order(sums);
  }
  std::memcpy(into + first, &sums, sizeof sums);
}

}  // namespace detail

/// into = Σ row_of(i), or Σ factor_of(i) · row_of(i), over i of [0, count), in that order; zero of
/// none. The sum stays in registers, a few columns at a time, and is written once. Host only. //
/// (dim)
template <class RowOf, class... FactorOf>
inline void sum_rows(float* into, std::size_t dim, std::size_t count, RowOf const& row_of,
                     FactorOf const&... factor_of) noexcept {
  std::size_t column = 0;
  if (count == 0) {
    for (; column < dim; ++column) {
      into[column] = 0.0F;
    }
    return;
  }
#if INLAY_HAS_VECTORS
  for (; column + 16 <= dim; column += 16) {
    detail::sum_columns<detail::sixteen_floats>(into, column, count, row_of, factor_of...);
  }
  if (column + 8 <= dim) {
    detail::sum_columns<detail::eight_floats>(into, column, count, row_of, factor_of...);
    column += 8;
  }
#endif
  for (; column < dim; ++column) {
    detail::sum_columns<float>(into, column, count, row_of, factor_of...);
  }
}

/// Sum of squares in an order that suits vectors of any length up to 16: column i goes to partial
/// sum i mod 16, and the partial sums are added as a tree. // (dim)
[[nodiscard]] INLAY_HD inline float sum_of_squares(float const* row, std::size_t dim) noexcept {
  constexpr std::size_t lanes = 16;
  float partial[lanes] = {};
  auto const whole = dim - dim % lanes;
  for (std::size_t first = 0; first < whole; first += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      partial[lane] += row[first + lane] * row[first + lane];
    }
  }
  for (std::size_t i = whole; i < dim; ++i) {
    partial[i - whole] += row[i] * row[i];
  }
  for (std::size_t reach = lanes / 2; reach > 0; reach /= 2) {
    for (std::size_t lane = 0; lane < reach; ++lane) {
      partial[lane] += partial[lane + reach];
    }
  }
  return partial[0];
}

/// Whether no element is infinite or not a number. // (count)
[[nodiscard]] INLAY_HD inline bool all_finite(float const* values, std::size_t count) noexcept {
  // x - x is zero unless x is not finite, and a sum of zeros vectorises where a branch does not.
  constexpr std::size_t lanes = 16;
  float residue[lanes] = {};
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      residue[lane] += values[i + lane] - values[i + lane];
    }
  }
  for (; i < count; ++i) {
    residue[0] += values[i] - values[i];
  }
  float sum = 0.0F;
  for (auto const one : residue) {
    sum += one;
  }
  return sum == 0.0F;
}

/// The greatest |value|, zero of none; not finite if any value is not. Host only. // (count)
[[nodiscard]] inline float greatest_magnitude(float const* values, std::size_t count) noexcept {
  // Without their sign, floats are ordered as integers, infinity and NaN above all.
  std::uint32_t greatest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    auto const bits = std::bit_cast<std::uint32_t>(values[i]) & 0x7fffffffU;
    greatest = bits > greatest ? bits : greatest;
  }
  return std::bit_cast<float>(greatest);
}

}  // namespace inlay::inline INLAY_ABI
