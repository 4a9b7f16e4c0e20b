#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/views.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// How large one matrix is.
struct tensor_shape {
  std::size_t rows = 0;  ///< of the matrix
  std::size_t cols = 0;  ///< of the matrix

  /// How many values it has.
  [[nodiscard]] constexpr std::size_t size() const noexcept { return rows * cols; }
  [[nodiscard]] constexpr bool operator==(tensor_shape const&) const = default;
};

/// Some of those matrices, one after the other, as blocks of a network pass them around.
template <class T>
using tensor_span = span<matrix_view<T> const>;

/// The values of a matrix that is one of `tensors`, row after row.
template <class T>
[[nodiscard]] span<T> values_of(matrix_view<T> const& tensor) noexcept {
  return {tensor.data, tensor.size()};
}

/// Matrices that belong together, a network's parameters or their gradients: zero at first, one
/// block of memory, each matrix contiguous and from a cache line on. Views stay good when the owner
/// moves.
class tensors {
 public:
  tensors() = default;
  /// All zero.
  explicit tensors(std::vector<tensor_shape> const& shapes) {
    std::size_t size = 0;
    for (auto const& shape : shapes) {
      size += padded(shape.size());
    }
    memory_.assign(size, 0.0F);
    auto* first = memory_.data();
    for (auto const& shape : shapes) {
      views_.emplace_back(first, shape.rows, shape.cols);
      const_views_.push_back(views_.back());
      first += padded(shape.size());
    }
  }

  /// All matrices, in the order of their shapes.
  [[nodiscard]] span<matrix_view<float> const> views() noexcept {
    return {views_.data(), views_.size()};
  }
  /// All matrices, in the order of their shapes.
  [[nodiscard]] span<matrix_view<float const> const> views() const noexcept {
    return {const_views_.data(), const_views_.size()};
  }

  /// The values of one matrix, row after row.
  [[nodiscard]] span<float> values(std::size_t at) noexcept { return values_of(views_[at]); }
  /// The values of one matrix, row after row.
  [[nodiscard]] span<float const> values(std::size_t at) const noexcept {
    return values_of(const_views_[at]);
  }

  /// Makes every value zero.
  void set_zero() noexcept { std::fill(memory_.begin(), memory_.end(), 0.0F); }

  /// What another set like this one is made from.
  [[nodiscard]] std::vector<tensor_shape> shapes() const {
    std::vector<tensor_shape> all;
    all.reserve(views_.size());
    for (auto const& view : views_) {
      all.push_back({view.rows, view.cols});
    }
    return all;
  }

 private:
  [[nodiscard]] static constexpr std::size_t padded(std::size_t size) noexcept {
    constexpr auto line = buffer<float>::alignment / sizeof(float);
    return (size + line - 1) / line * line;
  }

  buffer<float> memory_;
  std::vector<matrix_view<float>> views_;
  std::vector<matrix_view<float const>> const_views_;
};

}  // namespace inlay::inline INLAY_ABI
