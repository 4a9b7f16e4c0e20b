#pragma once

#include <inlay/core/config.hpp>

#include <cstddef>
#include <type_traits>

#if INLAY_HAS_THRUST
#include <cuda/std/span>
#else
#include <span>
#endif

namespace inlay::inline INLAY_ABI {

#if INLAY_HAS_THRUST
/// The span of the build: one that device code may use.
template <class T, std::size_t Extent = static_cast<std::size_t>(-1)>
using span = ::cuda::std::span<T, Extent>;
#else
/// The span of the build.
template <class T, std::size_t Extent = std::dynamic_extent>
using span = std::span<T, Extent>;
#endif

/// A row-major matrix that belongs to somebody else. `stride` is the distance between rows in
/// elements.
template <class T>
struct matrix_view {
  T* data = nullptr;       ///< the first element
  std::size_t rows = 0;    ///< that there are
  std::size_t cols = 0;    ///< of each row
  std::size_t stride = 0;  ///< from row to row, in elements

  matrix_view() = default;
  /// Rows that lie one behind the other.
  INLAY_HD constexpr matrix_view(T* first, std::size_t row_count, std::size_t col_count) noexcept
      : matrix_view(first, row_count, col_count, col_count) {}
  /// Rows at a stride.
  INLAY_HD constexpr matrix_view(T* first, std::size_t row_count, std::size_t col_count,
                                 std::size_t row_stride) noexcept
      : data(first), rows(row_count), cols(col_count), stride(row_stride) {}
  /// Of the same elements, not to be written. A conversion function to `matrix_view<T const>` would
  /// draw a warning from nvcc where T is const already, with or without a constraint.
  template <class U>
    requires(!std::is_same_v<U, T> && std::is_same_v<U const, T>)
  INLAY_HD constexpr matrix_view(matrix_view<U> const& other) noexcept
      : matrix_view(other.data, other.rows, other.cols, other.stride) {}

  /// One row. // (cols)
  [[nodiscard]] INLAY_HD constexpr span<T> row(std::size_t at) const noexcept {
    return {data + at * stride, cols};
  }
  /// Some rows, one after the other. // (count, cols)
  [[nodiscard]] INLAY_HD constexpr matrix_view row_range(std::size_t first,
                                                         std::size_t count) const noexcept {
    return {data + first * stride, count, cols, stride};
  }
  /// How many elements there are.
  [[nodiscard]] INLAY_HD constexpr std::size_t size() const noexcept { return rows * cols; }
};

}  // namespace inlay::inline INLAY_ABI
