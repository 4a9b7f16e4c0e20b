#pragma once

#include <inlay/core/hash.hpp>
#include <inlay/core/random.hpp>
#include <inlay/core/views.hpp>
#include <inlay/model/aligned_matrix.hpp>
#include <inlay/model/linear_unit.hpp>
#include <inlay/model/mlp.hpp>
#include <inlay/model/tensors.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// An `mlp` and a linear unit on top of it, one logit a row: the block that a deep network ends in.
///
/// Its network owns the tensors: those of the `mlp`, then the unit's weights (last units, 1). No
/// bias of its own.
class logit_mlp {
 public:
  /// What `add_logits` leaves for `backward`.
  class activations {
   private:
    friend class logit_mlp;
    mlp::activations hidden_;
    matrix_view<float const> last_;  // what the hidden layers gave
  };

  /// Memory for the time of a call; one per thread.
  class scratch {
   private:
    friend class logit_mlp;
    mlp::scratch hidden_;
    aligned_matrix last_gradients_;  // (rows, last units)
  };

  /// Hidden layers of so many units each, perhaps none. Throws for a layer without units.
  logit_mlp(std::size_t input_width, std::vector<std::size_t> hidden)
      : layers_(input_width, std::move(hidden)) {}

  /// How many tensors it has.
  [[nodiscard]] std::size_t tensors() const noexcept { return 2 * layers_.layers() + 1; }

  /// What the network must own for this block.
  [[nodiscard]] std::vector<tensor_shape> shapes() const {
    auto all = layers_.shapes();
    all.push_back({layers_.output_width(), 1});
    return all;
  }

  /// The layers as `mlp` has it; the unit's weights of variance 1 / inputs (Glorot and Bengio
  /// 2010), as no ReLU follows.
  void initialise(tensor_span<float> parameters, std::uint64_t seed) const {
    layers_.initialise(parameters.first(tensors() - 1), mix(seed, 0));
    auto const output = parameters[tensors() - 1];
    auto const scale = 1.0F / std::sqrt(static_cast<float>(output.size()));
    random_stream const stream{mix(seed, 1)};
    for (std::size_t at = 0; at < output.size(); ++at) {
      output.data[at] = scale * stream.normal(at);
    }
  }

  /// logits[r] += the logit of row r. `input` must stay until `backward`.
  void add_logits(tensor_span<float const> parameters, matrix_view<float const> input,
                  activations& kept, scratch& memory, span<float> logits) const {
    kept.last_ = layers_.forward(hidden(parameters), input, kept.hidden_, memory.hidden_);
    linear_unit::add_outputs(kept.last_, output(parameters), logits);
  }

  /// Adds to the parameters' gradients; returns the input's, in `memory`. // (rows, input width)
  [[nodiscard]] matrix_view<float const> backward(tensor_span<float const> parameters,
                                                  matrix_view<float const> input,
                                                  activations const& kept,
                                                  span<float const> logit_gradients,
                                                  tensor_span<float> parameter_gradients,
                                                  scratch& memory) const {
    linear_unit::add_weight_gradients(kept.last_, logit_gradients, output(parameter_gradients));
    memory.last_gradients_.resize(logit_gradients.size(), layers_.output_width());
    linear_unit::input_gradients(logit_gradients, output(parameters),
                                 memory.last_gradients_.view());
    return layers_.backward(hidden(parameters), input, kept.hidden_,
                            std::as_const(memory.last_gradients_).view(),
                            hidden(parameter_gradients), memory.hidden_);
  }

 private:
  template <class T>
  [[nodiscard]] tensor_span<T> hidden(tensor_span<T> tensors_of) const noexcept {
    return tensors_of.first(tensors() - 1);
  }
  template <class T>
  [[nodiscard]] span<T> output(tensor_span<T> tensors_of) const noexcept {
    return values_of(tensors_of[tensors() - 1]);
  }

  mlp layers_;
};

}  // namespace inlay::inline INLAY_ABI
