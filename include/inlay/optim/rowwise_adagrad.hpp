#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/row_math.hpp>
#include <inlay/optim/row_optimizer.hpp>
#include <inlay/optim/weight_decay.hpp>

#include <cmath>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// Adagrad with one accumulator per row: a += mean(g²), w -= lr g / (√a + ε). Nearly as good as one
/// per weight for embeddings, at a dim-th of the memory; hence the default.
struct rowwise_adagrad {
  static constexpr char const* name = "rowwise_adagrad";

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
  [[nodiscard]] INLAY_HD constexpr std::size_t state_floats(std::size_t) const noexcept {
    return 1 + decay.state_floats();
  }
  INLAY_HD constexpr void reset(span<float> state) const noexcept {
    state[0] = initial_accumulator;
    decay.reset(state);
  }

  INLAY_HD void update(span<float> row, span<float> state, span<float const> gradient,
                       update_context const& context) const noexcept {
    auto const dim = row.size();
    auto const rate = learning_rate * context.rate_factor;
    decay.apply(row, state, rate, context.step);
    state[0] += sum_of_squares(gradient.data(), dim) / static_cast<float>(dim);
    add(row.data(), gradient.data(), -rate / (std::sqrt(state[0]) + epsilon), dim);
  }
};

static_assert(row_optimizer<rowwise_adagrad>);

}  // namespace inlay::inline INLAY_ABI
