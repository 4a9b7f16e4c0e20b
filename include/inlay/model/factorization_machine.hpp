#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/views.hpp>
#include <inlay/model/linear_unit.hpp>

#include <algorithm>
#include <array>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// A factorization machine of second order (Rendle 2010, section III) over the pooled vectors of a
/// row's fields: column 0 of a vector is its field's linear weight w, the other dim - 1 its factors
/// v.
///
/// value = sum_f w_f + sum_{f<g} <v_f, v_g>, the latter as 1/2 sum_k ((sum_f v_fk)^2 - sum_f
/// v_fk^2), so it costs fields x dim instead of its square. A block for networks, called row by row
/// while the row is in the first cache. Column 0 travels in the same vector registers as the
/// factors.
struct factorization_machine {
  static constexpr std::size_t lanes = 16;  ///< columns at a time

  std::size_t fields = 0;
  std::size_t dim = 0;  ///< columns of a field's vector

  /// Columns summed over fields, which `backward` needs: floats to keep for each row.
  [[nodiscard]] constexpr std::size_t sums_size() const noexcept {
    return (dim + lanes - 1) / lanes * lanes;
  }

  /// Value of one row (fields x dim); leaves the sum over fields of each column in `sums`.
  [[nodiscard]] float forward(float const* row, float* sums) const noexcept {
    auto pairs = 0.0F;
    for (std::size_t first = 0; first < dim; first += lanes) {
      auto const width = std::min(lanes, dim - first);
      std::array<float, lanes> sum{};
      std::array<float, lanes> squares{};
      for (std::size_t field = 0; field < fields; ++field) {
        add(row + field * dim + first, width, sum, squares);
      }
      std::copy(sum.begin(), sum.end(), sums + first);
      if (first == 0) {
        sum[0] = 0.0F;  // the linear weights take no part in pairs
        squares[0] = 0.0F;
      }
      pairs += detail::lane_sum(
          lanes, [&](std::size_t lane) { return sum[lane] * sum[lane] - squares[lane]; });
    }
    return sums[0] + 0.5F * pairs;
  }

  /// gradients += gradient x the derivative of a row's value by its vectors: 1 for w_f,
  /// (sum over fields - v_f) for the factors.
  void add_gradients(float gradient, float const* row, float const* sums,
                     float* gradients) const noexcept {
    for (std::size_t field = 0; field < fields; ++field) {
      auto const* const vector = row + field * dim;
      auto* const target = gradients + field * dim;
      auto const linear = target[0] + gradient;
      for (std::size_t column = 0; column < dim; ++column) {
        target[column] += gradient * (sums[column] - vector[column]);
      }
      target[0] = linear;
    }
  }

 private:
  static void add(float const* vector, std::size_t width, std::array<float, lanes>& sum,
                  std::array<float, lanes>& squares) noexcept {
    if (width == lanes) {  // a trip count that the compiler knows: no tail
      for (std::size_t lane = 0; lane < lanes; ++lane) {
        sum[lane] += vector[lane];
        squares[lane] += vector[lane] * vector[lane];
      }
      return;
    }
    for (std::size_t lane = 0; lane < width; ++lane) {
      sum[lane] += vector[lane];
      squares[lane] += vector[lane] * vector[lane];
    }
  }
};

}  // namespace inlay::inline INLAY_ABI
