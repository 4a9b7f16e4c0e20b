#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/views.hpp>
#include <inlay/model/linear_unit.hpp>
#include <inlay/model/network.hpp>
#include <inlay/model/tensors.hpp>
#include <inlay/model/tiled_network.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// What `logistic_regression` does to a tile of rows.
class logistic_regression_layers {
 public:
  static constexpr char const* name = "logistic regression";

  /// What a network is made of.
  struct knobs {
    std::size_t fields = 0;       ///< weights of a sample
    std::size_t dense_width = 0;  ///< dense features
  };

  struct tile {};     ///< Nothing is left for backward.
  struct scratch {};  ///< Nothing is needed.

  /// Throws without a field.
  explicit logistic_regression_layers(knobs const& chosen) : knobs_(chosen) {
    expects(chosen.fields > 0, "logistic regression needs at least one field");
  }

  /// Columns of pooled embeddings.
  [[nodiscard]] std::size_t pooled_width() const noexcept { return knobs_.fields; }
  /// Dense features.
  [[nodiscard]] std::size_t dense_width() const noexcept { return knobs_.dense_width; }

  /// Of its tensors, without the bias.
  [[nodiscard]] std::vector<tensor_shape> shapes() const {
    std::vector<tensor_shape> all;
    if (knobs_.dense_width > 0) {
      all.push_back({knobs_.dense_width, 1});
    }
    return all;
  }

  /// All weights begin at zero, as they are.
  void initialise(tensor_span<float> /*parameters*/) const noexcept {}

  /// As `network_layers` asks.
  void forward(tensor_span<float const> parameters, input_rows rows, tile& /*kept*/,
               scratch& /*memory*/, span<float> logits) const {
    for (std::size_t r = 0; r < logits.size(); ++r) {
      auto const* const row = rows.pooled.row(r).data();
      logits[r] += detail::lane_sum(rows.pooled.cols, [=](std::size_t c) { return row[c]; });
    }
    if (knobs_.dense_width > 0) {
      linear_unit::add_outputs(rows.dense, values_of(parameters[0]), logits);
    }
  }

  /// As `network_layers` asks.
  void backward(tensor_span<float const> /*parameters*/, input_rows rows, tile const& /*kept*/,
                span<float const> logit_gradients, tensor_span<float> parameter_gradients,
                scratch& /*memory*/, matrix_view<float> pooled_gradients) const {
    for (std::size_t r = 0; r < logit_gradients.size(); ++r) {
      auto const row = pooled_gradients.row(r);
      std::fill(row.begin(), row.end(), logit_gradients[r]);
    }
    if (knobs_.dense_width > 0) {
      linear_unit::add_weight_gradients(rows.dense, logit_gradients,
                                        values_of(parameter_gradients[0]));
    }
  }

 private:
  knobs knobs_;
};

/// Logistic regression over embeddings of width 1: logit = bias + sum of a row's pooled columns +
/// dense w.
///
/// Tensors: bias (1, 1), then w (dense features, 1) where there are any; zero at first.
using logistic_regression = tiled_network<logistic_regression_layers>;
static_assert(network<logistic_regression>);

}  // namespace inlay::inline INLAY_ABI
