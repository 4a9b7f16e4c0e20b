#pragma once

#include <inlay/core/views.hpp>

#include <array>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

namespace detail {

inline constexpr std::size_t lanes = 16;  // floats in the widest vector register
using lane_values = std::array<float, lanes>;

/// Sum over at(i), i < count, in sixteen running sums. A single one would be a chain of dependent
/// additions, which no compiler may reorder; sixteen fill a vector register and fix the order.
template <class Term>
[[nodiscard]] inline float lane_sum(std::size_t count, Term const& at) noexcept {
  lane_values sums{};
  auto const whole = count / lanes * lanes;
  for (std::size_t first = 0; first < whole; first += lanes) {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      sums[lane] += at(first + lane);
    }
  }
  for (std::size_t lane = 0; whole + lane < count; ++lane) {
    sums[lane] += at(whole + lane);
  }
  for (std::size_t half = lanes / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) {
      sums[lane] += sums[lane + half];
    }
  }
  return sums[0];
}

}  // namespace detail

/// One output per row, x w: the last layer of a network, or all of a linear model. No bias of its
/// own.
///
/// A matrix product with one column would waste all but one lane of a GEMM kernel.
struct linear_unit {
  /// outputs[r] += x_r w
  static void add_outputs(matrix_view<float const> x, span<float const> weights,
                          span<float> outputs) noexcept {
    for (std::size_t r = 0; r < x.rows; ++r) {
      auto const* const row = x.data + r * x.stride;
      auto const* const weight = weights.data();
      outputs[r] += detail::lane_sum(x.cols, [=](std::size_t c) { return row[c] * weight[c]; });
    }
  }

  /// totals += sum over r of gradients[r] x_r
  static void add_weight_gradients(matrix_view<float const> x, span<float const> gradients,
                                   span<float> totals) noexcept {
    for (std::size_t r = 0; r < x.rows; ++r) {
      auto const* const row = x.data + r * x.stride;
      auto* const sums = totals.data();
      auto const gradient = gradients[r];
      for (std::size_t c = 0; c < x.cols; ++c) {
        sums[c] += gradient * row[c];
      }
    }
  }

  /// outputs[r] = gradients[r] w
  static void input_gradients(span<float const> gradients, span<float const> weights,
                              matrix_view<float> outputs) noexcept {
    for (std::size_t r = 0; r < outputs.rows; ++r) {
      auto* const row = outputs.data + r * outputs.stride;
      auto const* const weight = weights.data();
      auto const gradient = gradients[r];
      for (std::size_t c = 0; c < outputs.cols; ++c) {
        row[c] = gradient * weight[c];
      }
    }
  }
};

}  // namespace inlay::inline INLAY_ABI
