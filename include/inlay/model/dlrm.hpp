#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/hash.hpp>
#include <inlay/core/row_math.hpp>
#include <inlay/core/views.hpp>
#include <inlay/model/aligned_matrix.hpp>
#include <inlay/model/dot_interactions.hpp>
#include <inlay/model/logit_mlp.hpp>
#include <inlay/model/mlp.hpp>
#include <inlay/model/network.hpp>
#include <inlay/model/tensors.hpp>
#include <inlay/model/tiled_network.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// What `dlrm` does to a tile of rows.
class dlrm_layers {
 public:
  static constexpr char const* name = "DLRM";

  /// What a network is made of.
  struct knobs {
    std::size_t fields = 0;       ///< vectors of a sample
    std::size_t dim = 16;         ///< columns of a field's vector, the same for all fields
    std::size_t dense_width = 0;  ///< dense features
    std::vector<std::size_t> bottom = {64};    ///< units of each layer before the one of dim units
    std::vector<std::size_t> top = {128, 64};  ///< units of each hidden layer
    std::uint64_t seed = 0;                    ///< of the first weights
  };

  /// What forward leaves for backward.
  struct tile {
    mlp::activations bottom;           ///< of the layers at the bottom
    matrix_view<float const> vectors;  // (rows, dim): what the bottom gave
    aligned_matrix inputs;             // (rows, input width of the top)
    logit_mlp::activations top;        ///< of the layers on top
  };

  /// Memory for the time of a call.
  struct scratch {
    mlp::scratch bottom;                 ///< for the layers at the bottom
    dot_interactions::scratch products;  ///< for the dot products
    logit_mlp::scratch top;              ///< for the layers on top
    aligned_matrix vector_gradients;     // (rows, dim): of what the bottom gave
  };

  /// Throws for widths without sense.
  explicit dlrm_layers(knobs chosen)
      : knobs_(checked(std::move(chosen))),
        bottom_(knobs_.dense_width, bottom_widths()),
        pairs_(knobs_.fields + (has_bottom() ? 1 : 0), knobs_.dim),
        top_(vector_width() + pairs_.pairs(), knobs_.top) {}

  /// Columns of pooled embeddings.
  [[nodiscard]] std::size_t pooled_width() const noexcept { return knobs_.fields * knobs_.dim; }
  /// Dense features.
  [[nodiscard]] std::size_t dense_width() const noexcept { return knobs_.dense_width; }

  /// Of its tensors, without the bias.
  [[nodiscard]] std::vector<tensor_shape> shapes() const {
    auto all = top_.shapes();
    auto const more = bottom_.shapes();
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }

  /// First weights.
  void initialise(tensor_span<float> parameters) const {
    top_.initialise(parameters, mix(knobs_.seed, 0));
    bottom_.initialise(parameters.subspan(top_.tensors()), mix(knobs_.seed, 1));
  }

  /// As `network_layers` asks.
  void forward(tensor_span<float const> parameters, input_rows rows, tile& kept, scratch& memory,
               span<float> logits) const {
    if (has_bottom()) {
      kept.vectors = bottom_.forward(parameters.subspan(top_.tensors()), rows.dense, kept.bottom,
                                     memory.bottom);
    }
    kept.inputs.resize(logits.size(), vector_width() + pairs_.pairs());
    for (std::size_t r = 0; r < logits.size(); ++r) {
      auto const input = kept.inputs.view().row(r);
      auto const vector = vector_of(kept, r);
      std::copy(vector.begin(), vector.end(), input.begin());
      pairs_.forward(rows.pooled.row(r), vector, memory.products, input.subspan(vector_width()));
    }
    top_.add_logits(parameters, std::as_const(kept.inputs).view(), kept.top, memory.top, logits);
  }

  /// As `network_layers` asks.
  void backward(tensor_span<float const> parameters, input_rows rows, tile const& kept,
                span<float const> logit_gradients, tensor_span<float> parameter_gradients,
                scratch& memory, matrix_view<float> pooled_gradients) const {
    auto const input_gradients = top_.backward(parameters, kept.inputs.view(), kept.top,
                                               logit_gradients, parameter_gradients, memory.top);
    memory.vector_gradients.resize(logit_gradients.size(), vector_width());
    for (std::size_t r = 0; r < logit_gradients.size(); ++r) {
      auto const input_gradient = input_gradients.row(r);
      auto const vector_gradient = memory.vector_gradients.view().row(r);
      pairs_.backward(rows.pooled.row(r), vector_of(kept, r),
                      input_gradient.subspan(vector_width()), memory.products,
                      pooled_gradients.row(r), vector_gradient);
      add(vector_gradient.data(), input_gradient.data(), vector_width());
    }
    if (has_bottom()) {
      static_cast<void>(bottom_.backward(parameters.subspan(top_.tensors()), rows.dense,
                                         kept.bottom, std::as_const(memory.vector_gradients).view(),
                                         parameter_gradients.subspan(top_.tensors()),
                                         memory.bottom));
    }
  }

 private:
  [[nodiscard]] static knobs checked(knobs chosen) {
    expects(chosen.fields > 0, "DLRM needs at least one field");
    expects(chosen.fields > 1 || chosen.dense_width > 0,
            "DLRM without dense features needs at least two fields: it sees pairs alone");
    expects(chosen.dim > 0, "DLRM needs a dim of at least 1");
    return chosen;
  }

  [[nodiscard]] bool has_bottom() const noexcept { return knobs_.dense_width > 0; }
  [[nodiscard]] std::size_t vector_width() const noexcept { return has_bottom() ? knobs_.dim : 0; }

  [[nodiscard]] std::vector<std::size_t> bottom_widths() const {
    if (!has_bottom()) {
      return {};
    }
    auto widths = knobs_.bottom;
    widths.push_back(knobs_.dim);
    return widths;
  }

  /// What the bottom has made of a row, or nothing.
  [[nodiscard]] span<float const> vector_of(tile const& kept, std::size_t row) const noexcept {
    return has_bottom() ? kept.vectors.row(row) : span<float const>();
  }

  knobs knobs_;
  mlp bottom_;
  dot_interactions pairs_;
  logit_mlp top_;
};

/// DLRM (Naumov et al. 2019, section 2.1): layers at the bottom make one more vector z of the dense
/// features, as wide as the vectors e of the fields; the layers on top see z and the dot products
/// of all pairs: logit = bias + MLP([z, <e1, e0>, <e2, e0>, <e2, e1>, ..., <z, e0>, <z, e1>, ...]).
/// As in the paper's program, z comes out of a ReLU.
///
/// Without dense features there is no z, hence no bottom: the layers on top see the products of the
/// fields alone, of which there must be two.
///
/// Tensors: bias (1, 1); for each hidden layer on top W (inputs, units) and b (1, units); the
/// output layer (last units, 1); where there are dense features, W and b of each layer at the
/// bottom.
using dlrm = tiled_network<dlrm_layers>;
static_assert(network<dlrm>);

}  // namespace inlay::inline INLAY_ABI
