#pragma once

#include <inlay/core/views.hpp>
#include <inlay/model/linear_unit.hpp>

#include <algorithm>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// A factorization machine of second order (Rendle 2010, section III) over the vectors of a
/// row's fields: column 0 is the field's linear weight w, the other dim - 1 columns its factors v.
///
/// value = sum_f w_f + sum_{f<g} <v_f, v_g>, where the pairs are summed in fields x dim operations
/// as 1/2 sum_k ((sum_f v_fk)^2 - sum_f v_fk^2). A block for networks, called row by row while the
/// row is in the first cache. Column 0 travels in the same vector registers as the factors.
struct factorization_machine {
  std::size_t fields = 0;  ///< vectors of a sample
  std::size_t dim = 0;     ///< columns of a field's vector

  /// Columns summed over fields, which `backward` needs: how many floats to keep for a row.
  [[nodiscard]] constexpr std::size_t sums_size() const noexcept {
    return (dim + detail::lanes - 1) / detail::lanes * detail::lanes;
  }

  /// Value of one row (fields x dim); leaves the sum over fields of each column in `sums`.
  [[nodiscard]] float forward(span<float const> row, span<float> sums) const noexcept {
    auto pairs = 0.0F;
    for (std::size_t first = 0; first < dim; first += detail::lanes) {
      auto const width = std::min(detail::lanes, dim - first);
      detail::lane_values sum{};
      detail::lane_values squares{};
      for (std::size_t field = 0; field < fields; ++field) {
        add(row.data() + field * dim + first, width, sum, squares);
      }
      std::copy(sum.begin(), sum.end(), sums.data() + first);
      if (first == 0) {
        sum[0] = 0.0F;  // the linear weights take no part in pairs
        squares[0] = 0.0F;
      }
      pairs += detail::lane_sum(
          detail::lanes, [&](std::size_t lane) { return sum[lane] * sum[lane] - squares[lane]; });
    }
    return sums[0] + 0.5F * pairs;
  }

  /// Gradients of a row's vectors: `gradient` for w_f, gradient x (sum over fields - v_f) for the
  /// factors, to which `others` is added: gradients of the factors from elsewhere (fields x (dim -
  /// 1)).
  void backward(float gradient, span<float const> row, span<float const> sums,
                span<float const> others, span<float> gradients) const noexcept {
    for (std::size_t field = 0; field < fields; ++field) {
      auto const* const vector = row.data() + field * dim;
      auto const* const other = others.data() + field * (dim - 1);  // that of column 1
      auto* const target = gradients.data() + field * dim;
      for (std::size_t first = 0; first < dim; first += detail::lanes) {
        // Column 0 has no other: it reads the field before, and is overwritten below. Field 0 skips
        // it.
        auto const column = field == 0 && first == 0 ? 1 : first;
        add_scaled_differences(gradient, sums.data() + column, vector + column, other + column - 1,
                               std::min(first + detail::lanes, dim) - column, target + column);
      }
      target[0] = gradient;
    }
  }

 private:
  // Both helpers know the trip count of a full register, so that only a last part has a tail.

  static void add(float const* vector, std::size_t width, detail::lane_values& sum,
                  detail::lane_values& squares) noexcept {
    auto const each = [&](std::size_t count) {
      for (std::size_t lane = 0; lane < count; ++lane) {
        sum[lane] += vector[lane];
        squares[lane] += vector[lane] * vector[lane];
      }
    };
    width == detail::lanes ? each(detail::lanes) : each(width);
  }

  /// target = other + scale x (sum - vector)
  static void add_scaled_differences(float scale, float const* sum, float const* vector,
                                     float const* other, std::size_t width,
                                     float* target) noexcept {
    auto const each = [=](std::size_t count) {
      detail::lane_values result;  // read all, then write: no question of overlap for the compiler
      for (std::size_t lane = 0; lane < count; ++lane) {
        result[lane] = other[lane] + scale * (sum[lane] - vector[lane]);
      }
      for (std::size_t lane = 0; lane < count; ++lane) {
        target[lane] = result[lane];
      }
    };
    width == detail::lanes ? each(detail::lanes) : each(width);
  }
};

}  // namespace inlay::inline INLAY_ABI
