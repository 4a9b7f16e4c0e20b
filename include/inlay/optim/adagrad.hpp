#pragma once

#include <inlay/core/columns.hpp>
#include <inlay/core/error.hpp>
#include <inlay/optim/row_optimizer.hpp>
#include <inlay/optim/weight_decay.hpp>

#include <cmath>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// Adagrad (Duchi, Hazan and Singer 2011), an accumulator per weight: a += g², w -= lr g / (√a +
/// ε). The accumulator takes g in before the step uses it, and ε stands outside the root, as in
/// PyTorch.
struct adagrad {
  static constexpr char const* name = "adagrad";

  float learning_rate = 0.01F;       ///< of a step before it is scaled
  float epsilon = 1e-8F;             ///< added to the root, so that nothing is divided by zero
  float initial_accumulator = 0.0F;  ///< what squares are added to
  weight_decay decay = {};           ///< beside the gradient's step

  void check() const {
    expects(std::isfinite(learning_rate), "the learning rate must be finite");
    expects(std::isfinite(epsilon) && epsilon > 0,
            "epsilon must be positive: it stands in a divisor");
    expects(std::isfinite(initial_accumulator) && initial_accumulator >= 0,
            "the initial accumulator is a sum of squares: zero or more");
    decay.check(learning_rate);
  }
  [[nodiscard]] INLAY_HD constexpr std::size_t state_floats(std::size_t dim) const noexcept {
    return dim + decay.state_floats();
  }
  INLAY_HD constexpr void reset(span<float> state) const noexcept {
    for (auto& accumulator : state) {
      accumulator = initial_accumulator;
    }
    decay.reset(state);
  }

  INLAY_HD void update(span<float> row, span<float> state, span<float const> gradient,
                       update_context const& context) const noexcept {
    auto const rate = learning_rate * context.rate_factor;
    decay.apply(row, state, rate, context.step);
    for_columns(row.size(), [rate, least = epsilon, weights = row.data(), sums = state.data(),
                             slopes = gradient.data()](auto at) {
      auto const slope = at.load(slopes);
      auto const sum = at.load(sums) + slope * slope;
      at.store(sums, sum);
      at.store(weights, at.load(weights) - rate * slope / (square_root(sum) + least));
    });
  }
};

static_assert(row_optimizer<adagrad>);

}  // namespace inlay::inline INLAY_ABI
