#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/views.hpp>
#include <inlay/model/aligned_matrix.hpp>
#include <inlay/model/factorization_machine.hpp>
#include <inlay/model/linear_unit.hpp>
#include <inlay/model/logit_mlp.hpp>
#include <inlay/model/network.hpp>
#include <inlay/model/restride.hpp>
#include <inlay/model/tensors.hpp>
#include <inlay/model/tiled_network.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// What `deepfm` does to a tile of rows.
class deepfm_layers {
 public:
  static constexpr char const* name = "DeepFM";

  /// What a network is made of.
  struct knobs {
    std::size_t fields = 0;       ///< vectors of a sample
    std::size_t dim = 16;         ///< columns of a field's vector, the same for all fields
    std::size_t dense_width = 0;  ///< dense features
    std::vector<std::size_t> hidden = {128, 64};  ///< units of each hidden layer
    std::uint64_t seed = 0;                       ///< of the first weights
  };

  /// What forward leaves for backward.
  struct tile {
    aligned_matrix inputs;        // (rows, fields x factors + dense features)
    aligned_matrix sums;          // (rows, dim): vectors summed over fields
    logit_mlp::activations deep;  ///< of the hidden layers
  };

  /// Memory for the time of a call.
  using scratch = logit_mlp::scratch;

  /// Throws for widths without sense.
  explicit deepfm_layers(knobs chosen)
      : knobs_(checked(std::move(chosen))),
        pairs_{knobs_.fields, knobs_.dim},
        deep_(input_width(), knobs_.hidden) {}

  /// Columns of pooled embeddings.
  [[nodiscard]] std::size_t pooled_width() const noexcept { return knobs_.fields * knobs_.dim; }
  /// Dense features.
  [[nodiscard]] std::size_t dense_width() const noexcept { return knobs_.dense_width; }

  /// Of its tensors, without the bias.
  [[nodiscard]] std::vector<tensor_shape> shapes() const {
    auto all = deep_.shapes();
    if (knobs_.dense_width > 0) {
      all.push_back({knobs_.dense_width, 1});
    }
    return all;
  }

  /// First weights.
  void initialise(tensor_span<float> parameters) const {
    deep_.initialise(parameters, knobs_.seed);
  }

  /// As `network_layers` asks.
  void forward(tensor_span<float const> parameters, input_rows rows, tile& kept, scratch& memory,
               span<float> logits) const {
    kept.inputs.resize(logits.size(), input_width());
    kept.sums.resize(logits.size(), pairs_.sums_size());
    for (std::size_t r = 0; r < logits.size(); ++r) {
      auto* const input = kept.inputs.view().row(r).data();
      auto const pooled = rows.pooled.row(r);
      restride(pooled.data() + 1, knobs_.dim, input, factors(), factors(), knobs_.fields);
      logits[r] += pairs_.forward(pooled, kept.sums.view().row(r));
    }
    if (knobs_.dense_width > 0) {
      for (std::size_t r = 0; r < logits.size(); ++r) {
        std::copy_n(rows.dense.row(r).data(), knobs_.dense_width,
                    kept.inputs.view().row(r).data() + knobs_.fields * factors());
      }
      linear_unit::add_outputs(rows.dense, dense_weights(parameters), logits);
    }
    deep_.add_logits(parameters, std::as_const(kept.inputs).view(), kept.deep, memory, logits);
  }

  /// As `network_layers` asks.
  void backward(tensor_span<float const> parameters, input_rows rows, tile const& kept,
                span<float const> logit_gradients, tensor_span<float> parameter_gradients,
                scratch& memory, matrix_view<float> pooled_gradients) const {
    if (knobs_.dense_width > 0) {
      linear_unit::add_weight_gradients(rows.dense, logit_gradients,
                                        dense_weights(parameter_gradients));
    }
    auto const input_gradients = deep_.backward(parameters, kept.inputs.view(), kept.deep,
                                                logit_gradients, parameter_gradients, memory);
    for (std::size_t r = 0; r < logit_gradients.size(); ++r) {
      pairs_.backward(logit_gradients[r], rows.pooled.row(r), kept.sums.view().row(r),
                      input_gradients.row(r), pooled_gradients.row(r));
    }
  }

 private:
  [[nodiscard]] static knobs checked(knobs chosen) {
    expects(chosen.fields > 0, "DeepFM needs at least one field");
    expects(chosen.dim > 1, "DeepFM needs a dim of at least 2: a linear weight and one factor");
    return chosen;
  }

  [[nodiscard]] std::size_t factors() const noexcept { return knobs_.dim - 1; }
  [[nodiscard]] std::size_t input_width() const noexcept {
    return knobs_.fields * factors() + knobs_.dense_width;
  }
  template <class T>
  [[nodiscard]] span<T> dense_weights(tensor_span<T> tensors) const noexcept {
    return values_of(tensors[deep_.tensors()]);
  }

  knobs knobs_;
  factorization_machine pairs_;
  logit_mlp deep_;
};

/// DeepFM (Guo et al. 2017, section 2.1): a factorization machine and a deep network over the same
/// embeddings. Column 0 of a field's vector is its linear weight, the other dim - 1 its factors v:
/// logit = bias + dense w + sum of linear weights + FM(v) + MLP([v of all fields, dense]).
///
/// Tensors: bias (1, 1); for each hidden layer W (inputs, units) and b (1, units); the output layer
/// (last units, 1); w (dense features, 1) where there are any.
using deepfm = tiled_network<deepfm_layers>;
static_assert(network<deepfm>);

}  // namespace inlay::inline INLAY_ABI
