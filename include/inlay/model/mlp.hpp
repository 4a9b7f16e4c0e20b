#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/hash.hpp>
#include <inlay/core/random.hpp>
#include <inlay/core/views.hpp>
#include <inlay/model/aligned_matrix.hpp>
#include <inlay/model/gemm.hpp>
#include <inlay/model/tensors.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// Fully connected layers with ReLU, y = max(0, x W + b): a block that a network is made of.
///
/// It knows shapes alone. Its network owns the tensors (for each layer W (inputs, outputs), then
/// b (1, outputs)) and passes them in, so that all blocks of a network share one piece of memory.
class mlp {
 public:
  /// What `forward` leaves for `backward`: a matrix for each layer.
  class activations {
   private:
    friend class mlp;
    std::vector<aligned_matrix> outputs_;  // by layer: (rows, its width)
  };

  /// Memory for the time of a call; one per thread.
  class scratch {
   private:
    friend class mlp;
    std::vector<aligned_matrix> output_gradients_;  // by layer: (rows, its width), behind the ReLU
    aligned_matrix input_gradients_;                // (rows, input width)
    gemm_workspace packing_;
  };

  /// Layers of so many units each. Throws for a layer without units.
  mlp(std::size_t input_width, std::vector<std::size_t> widths)
      : input_width_(input_width), widths_(std::move(widths)) {
    for (auto const width : widths_) {
      expects(width > 0, "a hidden layer needs at least one unit");
    }
  }

  /// How many layers there are.
  [[nodiscard]] std::size_t layers() const noexcept { return widths_.size(); }
  /// Columns of the last layer.
  [[nodiscard]] std::size_t output_width() const noexcept {
    return widths_.empty() ? input_width_ : widths_.back();
  }

  /// What the network must own for this block, two tensors a layer.
  [[nodiscard]] std::vector<tensor_shape> shapes() const {
    std::vector<tensor_shape> all;
    auto inputs = input_width_;
    for (auto const outputs : widths_) {
      all.push_back({inputs, outputs});
      all.push_back({1, outputs});
      inputs = outputs;
    }
    return all;
  }

  /// Weights of mean 0 and variance 2 / inputs (He et al. 2015: ReLU halves the variance), biases
  /// zero.
  void initialise(tensor_span<float> parameters, std::uint64_t seed) const {
    for (std::size_t layer = 0; layer < layers(); ++layer) {
      auto const weights = parameters[2 * layer];
      auto const scale =
          std::sqrt(2.0F / static_cast<float>(std::max<std::size_t>(weights.rows, 1)));
      random_stream const stream{mix(seed, layer)};
      for (std::size_t at = 0; at < weights.size(); ++at) {
        weights.data[at] = scale * stream.normal(at);
      }
      auto const bias = parameters[2 * layer + 1].row(0);
      std::fill(bias.begin(), bias.end(), 0.0F);
    }
  }

  /// (rows, input width) → (rows, output width), in `kept`; without layers it is the input itself.
  [[nodiscard]] matrix_view<float const> forward(tensor_span<float const> parameters,
                                                 matrix_view<float const> input, activations& kept,
                                                 scratch& memory) const {
    kept.outputs_.resize(layers());
    for (std::size_t layer = 0; layer < layers(); ++layer) {
      kept.outputs_[layer].resize(input.rows, widths_[layer]);
      auto const output = kept.outputs_[layer].view();
      fill_rows(output, parameters[2 * layer + 1].data);
      add_product(input, parameters[2 * layer], output, memory.packing_);
      rectify(output);
      input = output;
    }
    return input;
  }

  /// Adds to the parameters' gradients; returns the input's, in `memory`. `gradient` is the
  /// output's, `input` and `kept` are those of `forward`. Without layers it returns `gradient`.
  [[nodiscard]] matrix_view<float const> backward(tensor_span<float const> parameters,
                                                  matrix_view<float const> input,
                                                  activations const& kept,
                                                  matrix_view<float const> gradient,
                                                  tensor_span<float> parameter_gradients,
                                                  scratch& memory) const {
    memory.output_gradients_.resize(layers());
    for (auto layer = layers(); layer-- > 0;) {
      memory.output_gradients_[layer].resize(input.rows, widths_[layer]);
      auto const masked = memory.output_gradients_[layer].view();
      mask(kept.outputs_[layer].view(), gradient, masked, parameter_gradients[2 * layer + 1].data);

      auto const below = layer == 0 ? input : kept.outputs_[layer - 1].view();
      add_product(transposed{below}, masked, parameter_gradients[2 * layer], memory.packing_);

      auto& target = layer == 0 ? memory.input_gradients_ : memory.output_gradients_[layer - 1];
      target.resize(below.rows, below.cols);
      fill_zero(target.view());
      add_product(masked, transposed{parameters[2 * layer]}, target.view(), memory.packing_);
      gradient = target.view();
    }
    return gradient;
  }

 private:
  // The product adds to what is there, so the bias costs no pass of its own.
  static void fill_rows(matrix_view<float> matrix, float const* values) noexcept {
    for (std::size_t r = 0; r < matrix.rows; ++r) {
      std::copy_n(values, matrix.cols, matrix.data + r * matrix.stride);
    }
  }

  static void fill_zero(matrix_view<float> matrix) noexcept {
    for (std::size_t r = 0; r < matrix.rows; ++r) {
      std::fill_n(matrix.data + r * matrix.stride, matrix.cols, 0.0F);
    }
  }

  // Written so that NaN stays NaN: a network that has gone astray must not look sane.
  static void rectify(matrix_view<float> matrix) noexcept {
    for (std::size_t r = 0; r < matrix.rows; ++r) {
      auto* const row = matrix.data + r * matrix.stride;
      for (std::size_t c = 0; c < matrix.cols; ++c) {
        row[c] = row[c] < 0.0F ? 0.0F : row[c];
      }
    }
  }

  /// masked = gradient where the ReLU let its input through; sums += masked summed over rows.
  /// `masked` may be `gradient` itself.
  static void mask(matrix_view<float const> output, matrix_view<float const> gradient,
                   matrix_view<float> masked, float* sums) noexcept {
    for (std::size_t r = 0; r < masked.rows; ++r) {
      auto const* const out = output.data + r * output.stride;
      auto const* const in = gradient.data + r * gradient.stride;
      auto* const result = masked.data + r * masked.stride;
      for (std::size_t c = 0; c < masked.cols; ++c) {
        auto const passed = out[c] <= 0.0F ? 0.0F : in[c];
        result[c] = passed;
        sums[c] += passed;
      }
    }
  }

  std::size_t input_width_;
  std::vector<std::size_t> widths_;
};

}  // namespace inlay::inline INLAY_ABI
