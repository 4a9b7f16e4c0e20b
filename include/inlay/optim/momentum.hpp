#pragma once

#include <inlay/core/columns.hpp>
#include <inlay/core/error.hpp>
#include <inlay/optim/row_optimizer.hpp>
#include <inlay/optim/weight_decay.hpp>

#include <cmath>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// Gradient descent with momentum (Polyak 1964), as in PyTorch: u = beta u + g, w -= lr u. The
/// velocity u of a row rests while no sample holds the row.
struct momentum {
  static constexpr char const* name = "momentum";

  float learning_rate = 0.01F;  ///< times the velocity is the step
  float beta = 0.9F;            ///< what is left of the velocity after a step
  weight_decay decay = {};      ///< beside the gradient's step

  void check() const {
    expects(std::isfinite(learning_rate), "the learning rate must be finite");
    expects(beta >= 0 && beta < 1, "momentum's beta must be at least zero and less than one");
    decay.check(learning_rate);
  }
  [[nodiscard]] INLAY_HD constexpr std::size_t state_floats(std::size_t dim) const noexcept {
    return dim + decay.state_floats();
  }
  INLAY_HD constexpr void reset(span<float> state) const noexcept {
    for (auto& velocity : state) {
      velocity = 0.0F;
    }
    decay.reset(state);
  }

  INLAY_HD void update(span<float> row, span<float> state, span<float const> gradient,
                       update_context const& context) const noexcept {
    auto const rate = learning_rate * context.rate_factor;
    decay.apply(row, state, rate, context.step);
    for_columns(row.size(), [rate, kept = beta, weights = row.data(), velocities = state.data(),
                             slopes = gradient.data()](auto at) {
      auto const velocity = kept * at.load(velocities) + at.load(slopes);
      at.store(velocities, velocity);
      at.store(weights, at.load(weights) - rate * velocity);
    });
  }
};

static_assert(row_optimizer<momentum>);

}  // namespace inlay::inline INLAY_ABI
