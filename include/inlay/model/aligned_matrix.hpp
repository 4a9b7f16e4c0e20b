#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/views.hpp>

#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// A matrix of scratch whose rows each start on a cache line; values are unspecified after
/// `resize`.
///
/// Every workspace is then laid out alike, and no vector loop starts off the line: its order of
/// summation, hence its result, is the same in all of them.
class aligned_matrix {
 public:
  static constexpr std::size_t line = buffer<float>::alignment / sizeof(float);  ///< floats

  aligned_matrix() = default;
  /// All zero.
  aligned_matrix(std::size_t rows, std::size_t cols) { resize(rows, cols); }

  /// Makes room for (rows, cols); the memory is kept when a smaller shape follows.
  void resize(std::size_t rows, std::size_t cols) {
    auto const stride = (cols + line - 1) / line * line;
    memory_.resize(rows * stride);
    shape_ = {nullptr, rows, cols, stride};
  }

  /// The values, at the stride that the alignment asks for. // (rows, cols)
  [[nodiscard]] matrix_view<float> view() noexcept {
    return {memory_.data(), shape_.rows, shape_.cols, shape_.stride};
  }
  /// The values, at the stride that the alignment asks for. // (rows, cols)
  [[nodiscard]] matrix_view<float const> view() const noexcept {
    return {memory_.data(), shape_.rows, shape_.cols, shape_.stride};
  }

 private:
  buffer<float> memory_;
  matrix_view<float> shape_;  // its pointer is unused: memory_ may move
};

}  // namespace inlay::inline INLAY_ABI
