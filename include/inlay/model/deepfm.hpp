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
 public:
  struct knobs {
    std::size_t fields = 0;
    std::size_t dim = 16;         ///< columns of a field's vector, the same for all fields
    std::size_t dense_width = 0;  ///< dense features
    std::vector<std::size_t> hidden = {128, 64};  ///< units of each hidden layer
    std::uint64_t seed = 0;
  };

  class workspace {
   public:
    [[nodiscard]] span<matrix_view<float const> const> gradients() const noexcept {
      return gradients_.views();
    }

   private:
    friend class deepfm;

    tensors gradients_;
    buffer<float> logits_;
    aligned_matrix inputs_;            // (rows, fields x factors + dense features)
    aligned_matrix sums_;              // (rows, dim): vectors summed over fields
    aligned_matrix deep_gradients_;    // (rows, last units)
    aligned_matrix pooled_gradients_;  // (rows, fields x dim)
    mlp::workspace layers_;
    matrix_view<float const> deep_;    // what the hidden layers gave
    matrix_view<float const> pooled_;  // the caller's, from forward to backward
    matrix_view<float const> dense_;
  };

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
    w.inputs_.resize(pooled.rows, input_width());
    w.sums_.resize(pooled.rows, pairs_.sums_size());
    for (std::size_t r = 0; r < pooled.rows; ++r) {
      w.logits_[r] = read_row(r, w);
    }
    w.deep_ = layers_.forward(layer_parameters(), std::as_const(w.inputs_).view(), w.layers_);
    linear_unit::add_outputs(w.deep_, parameters_.values(output_tensor()), w.logits_.view());
    if (knobs_.dense_width > 0) {
      linear_unit::add_outputs(dense, parameters_.values(output_tensor() + 1), w.logits_.view());
    }
    return std::as_const(w.logits_).view();
  }

  [[nodiscard]] matrix_view<float const> backward(span<float const> logit_gradients,
                                                  workspace& w) const {
    expects(logit_gradients.size() == w.logits_.size(),
            "backward needs one gradient for each logit of the last forward");
    auto const rows = logit_gradients.size();
    auto const output = output_tensor();
    auto bias_gradient = 0.0F;
    for (auto const gradient : logit_gradients) {
      bias_gradient += gradient;
    }
    w.gradients_.values(0)[0] = bias_gradient;
    if (knobs_.dense_width > 0) {
      linear_unit::weight_gradients(w.dense_, logit_gradients, w.gradients_.values(output + 1));
    }
    linear_unit::weight_gradients(w.deep_, logit_gradients, w.gradients_.values(output));
    w.deep_gradients_.resize(rows, layers_.output_width());
    linear_unit::input_gradients(logit_gradients, parameters_.values(output),
                                 w.deep_gradients_.view());
    auto const input_gradients =
        layers_.backward(layer_parameters(), std::as_const(w.inputs_).view(),
                         std::as_const(w.deep_gradients_).view(),
                         w.gradients_.views().subspan(1, 2 * layers_.layers()), w.layers_);
    w.pooled_gradients_.resize(rows, knobs_.fields * knobs_.dim);
    for (std::size_t r = 0; r < rows; ++r) {
      write_row(r, logit_gradients[r], input_gradients.data + r * input_gradients.stride, w);
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

  /// Lays out the deep network's input of row r; returns bias + linear weights + FM.
  [[nodiscard]] float read_row(std::size_t r, workspace& w) const noexcept {
    auto const* const row = w.pooled_.data + r * w.pooled_.stride;
    auto* const input = w.inputs_.view().row(r).data();
    detail::restride(row + 1, knobs_.dim, input, factors(), factors(), knobs_.fields);
    if (knobs_.dense_width > 0) {
      std::copy_n(w.dense_.row(r).data(), knobs_.dense_width, input + knobs_.fields * factors());
    }
    return parameters_.values(0)[0] + pairs_.forward(row, w.sums_.view().row(r).data());
  }

  /// The gradient of pooled row r: what the deep network says of its factors, and the FM's share.
  void write_row(std::size_t r, float gradient, float const* deep, workspace& w) const noexcept {
    auto* const target = w.pooled_gradients_.view().row(r).data();
    detail::restride(deep, factors(), target + 1, knobs_.dim, factors(), knobs_.fields);
    for (std::size_t field = 0; field < knobs_.fields; ++field) {
      target[field * knobs_.dim] = 0.0F;
    }
    pairs_.add_gradients(gradient, w.pooled_.data + r * w.pooled_.stride,
                         w.sums_.view().row(r).data(), target);
  }

  knobs knobs_;
  factorization_machine pairs_;
  mlp layers_;
  tensors parameters_;
  workspace own_;
};
static_assert(network<deepfm>);

}  // namespace inlay::inline INLAY_ABI
