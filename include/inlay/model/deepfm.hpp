#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/hash.hpp>
#include <inlay/core/random.hpp>
#include <inlay/core/views.hpp>
#include <inlay/model/aligned_matrix.hpp>
#include <inlay/model/factorization_machine.hpp>
#include <inlay/model/linear_unit.hpp>
#include <inlay/model/mlp.hpp>
#include <inlay/model/network.hpp>
#include <inlay/model/tensors.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

namespace detail {

/// Copies `count` vectors of `width` floats from one stride to another, first to last.
///
/// A vector of, say, 15 floats is copied as 16, in two instructions instead of a loop with a tail.
/// The excess lands where the next vector goes, or between the two; the last vectors are copied
/// exactly.
inline void restride(float const* from, std::size_t from_stride, float* to, std::size_t to_stride,
                     std::size_t width, std::size_t count) noexcept {
  constexpr std::size_t block = 16;
  auto const rounded = (width + block - 1) / block * block;
  auto const closer = std::min(from_stride, to_stride);
  std::size_t at = 0;
  for (; at < count && (count - 1 - at) * closer + width >= rounded; ++at) {
    for (std::size_t first = 0; first < rounded; first += block) {
      std::memcpy(to + at * to_stride + first, from + at * from_stride + first,
                  block * sizeof(float));
    }
  }
  for (; at < count; ++at) {
    std::copy_n(from + at * from_stride, width, to + at * to_stride);
  }
}

}  // namespace detail

/// DeepFM (Guo et al. 2017, section 2.1): a factorization machine and a deep network over the same
/// embeddings. Column 0 of a field's vector is its linear weight, the other dim - 1 its factors v:
/// logit = bias + dense w + sum of linear weights + FM(v) + MLP([v of all fields, dense]).
///
/// Tensors: bias (1, 1); for each hidden layer W (inputs, units) and b (1, units); the output layer
/// (last units, 1); w (dense features, 1) where there are any.
class deepfm {
  // Rows go through the whole network a tile at a time, so that what one layer writes is still in
  // the second cache when the next one reads it: a quarter of the time at 8192 rows a step. And a
  // row of a whole tile has the same logit however many tiles there are.
  static constexpr std::size_t tile_rows = 128;

 public:
  /// What a network is made of.
  struct knobs {
    std::size_t fields = 0;       ///< vectors of a sample
    std::size_t dim = 16;         ///< columns of a field's vector, the same for all fields
    std::size_t dense_width = 0;  ///< dense features
    std::vector<std::size_t> hidden = {128, 64};  ///< units of each hidden layer
    std::uint64_t seed = 0;                       ///< of the first weights
  };

  class workspace {
   public:
    [[nodiscard]] span<matrix_view<float const> const> gradients() const noexcept {
      return gradients_.views();
    }

   private:
    friend class deepfm;

    struct tile {
      aligned_matrix inputs;  // (rows, fields x factors + dense features)
      aligned_matrix sums;    // (rows, dim): vectors summed over fields
      mlp::activations kept;
      matrix_view<float const> deep;  // what the hidden layers gave
    };

    tensors gradients_;
    buffer<float> logits_;
    std::vector<tile> tiles_;
    aligned_matrix deep_gradients_;    // (rows of a tile, last units)
    aligned_matrix pooled_gradients_;  // (rows, fields x dim)
    mlp::scratch scratch_;
    matrix_view<float const> pooled_;  // the caller's, from forward to backward
    matrix_view<float const> dense_;
  };

  /// Draws first weights from the seed. Throws for widths without sense.
  explicit deepfm(knobs chosen)
      : knobs_(checked(std::move(chosen))),
        pairs_{knobs_.fields, knobs_.dim},
        layers_(input_width(), knobs_.hidden),
        parameters_(shapes()),
        own_(make_workspace()) {
    layers_.initialise(parameters_.views().subspan(1, 2 * layers_.layers()), mix(knobs_.seed, 0));
    // Variance 1 / inputs (Glorot and Bengio 2010), as no ReLU follows.
    auto const output = parameters_.values(output_tensor());
    auto const scale = 1.0F / std::sqrt(static_cast<float>(output.size()));
    random_stream const stream{mix(knobs_.seed, 1)};
    for (std::size_t at = 0; at < output.size(); ++at) {
      output[at] = scale * stream.normal(at);
    }
  }

  [[nodiscard]] span<matrix_view<float> const> parameters() noexcept { return parameters_.views(); }

  [[nodiscard]] workspace make_workspace() const {
    workspace made;
    made.gradients_ = tensors(parameters_.shapes());
    return made;
  }

  [[nodiscard]] span<float const> forward(matrix_view<float const> pooled,
                                          matrix_view<float const> dense, workspace& w) const {
    detail::expects_columns(pooled, knobs_.fields * knobs_.dim, dense, knobs_.dense_width,
                            "DeepFM");
    w.pooled_ = pooled;
    w.dense_ = dense;
    w.logits_.resize(pooled.rows);
    w.tiles_.resize(std::max(w.tiles_.size(), (pooled.rows + tile_rows - 1) / tile_rows));
    for (std::size_t first = 0; first < pooled.rows; first += tile_rows) {
      forward_tile(first, std::min(tile_rows, pooled.rows - first), w);
    }
    return std::as_const(w.logits_).view();
  }

  [[nodiscard]] matrix_view<float const> backward(span<float const> logit_gradients,
                                                  workspace& w) const {
    expects(logit_gradients.size() == w.logits_.size(),
            "backward needs one gradient for each logit of the last forward");
    w.gradients_.set_zero();
    w.pooled_gradients_.resize(logit_gradients.size(), knobs_.fields * knobs_.dim);
    for (std::size_t first = 0; first < logit_gradients.size(); first += tile_rows) {
      auto const rows = std::min(tile_rows, logit_gradients.size() - first);
      backward_tile(first, logit_gradients.subspan(first, rows), w);
    }
    return std::as_const(w.pooled_gradients_).view();
  }

  [[nodiscard]] span<float const> forward(matrix_view<float const> pooled,
                                          matrix_view<float const> dense) {
    return forward(pooled, dense, own_);
  }
  [[nodiscard]] matrix_view<float const> backward(span<float const> logit_gradients) {
    return backward(logit_gradients, own_);
  }
  [[nodiscard]] span<matrix_view<float const> const> gradients() const noexcept {
    return own_.gradients();
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
  [[nodiscard]] std::size_t output_tensor() const noexcept { return 1 + 2 * layers_.layers(); }
  [[nodiscard]] mlp::tensor_span layer_parameters() const noexcept {
    return parameters_.views().subspan(1, 2 * layers_.layers());
  }

  [[nodiscard]] std::vector<tensor_shape> shapes() const {
    std::vector<tensor_shape> all{{1, 1}};
    for (auto const& shape : layers_.shapes()) {
      all.push_back(shape);
    }
    all.push_back({layers_.output_width(), 1});
    if (knobs_.dense_width > 0) {
      all.push_back({knobs_.dense_width, 1});
    }
    return all;
  }

  void forward_tile(std::size_t first, std::size_t rows, workspace& w) const {
    auto& tile = w.tiles_[first / tile_rows];
    auto const pooled = w.pooled_.row_range(first, rows);
    auto const logits = w.logits_.view().subspan(first, rows);
    tile.inputs.resize(rows, input_width());
    tile.sums.resize(rows, pairs_.sums_size());
    for (std::size_t r = 0; r < rows; ++r) {
      auto* const input = tile.inputs.view().row(r).data();
      detail::restride(pooled.row(r).data() + 1, knobs_.dim, input, factors(), factors(),
                       knobs_.fields);
      logits[r] = parameters_.values(0)[0] + pairs_.forward(pooled.row(r), tile.sums.view().row(r));
    }
    auto const output = output_tensor();
    if (knobs_.dense_width > 0) {
      auto const dense = w.dense_.row_range(first, rows);
      for (std::size_t r = 0; r < rows; ++r) {
        std::copy_n(dense.row(r).data(), dense.cols,
                    tile.inputs.view().row(r).data() + knobs_.fields * factors());
      }
      linear_unit::add_outputs(dense, parameters_.values(output + 1), logits);
    }
    tile.deep = layers_.forward(layer_parameters(), std::as_const(tile.inputs).view(), tile.kept,
                                w.scratch_);
    linear_unit::add_outputs(tile.deep, parameters_.values(output), logits);
  }

  void backward_tile(std::size_t first, span<float const> logit_gradients, workspace& w) const {
    auto const& tile = w.tiles_[first / tile_rows];
    auto const rows = logit_gradients.size();
    auto const output = output_tensor();
    for (auto const gradient : logit_gradients) {
      w.gradients_.values(0)[0] += gradient;
    }
    if (knobs_.dense_width > 0) {
      linear_unit::add_weight_gradients(w.dense_.row_range(first, rows), logit_gradients,
                                        w.gradients_.values(output + 1));
    }
    linear_unit::add_weight_gradients(tile.deep, logit_gradients, w.gradients_.values(output));
    w.deep_gradients_.resize(rows, layers_.output_width());
    linear_unit::input_gradients(logit_gradients, parameters_.values(output),
                                 w.deep_gradients_.view());
    auto const input_gradients = layers_.backward(
        layer_parameters(), tile.inputs.view(), tile.kept, std::as_const(w.deep_gradients_).view(),
        w.gradients_.views().subspan(1, 2 * layers_.layers()), w.scratch_);
    for (std::size_t r = 0; r < rows; ++r) {
      pairs_.backward(logit_gradients[r], w.pooled_.row(first + r), tile.sums.view().row(r),
                      input_gradients.row(r), w.pooled_gradients_.view().row(first + r));
    }
  }

  knobs knobs_;
  factorization_machine pairs_;
  mlp layers_;
  tensors parameters_;
  workspace own_;
};
static_assert(network<deepfm>);

}  // namespace inlay::inline INLAY_ABI
