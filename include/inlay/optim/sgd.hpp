#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/row_math.hpp>
#include <inlay/optim/row_optimizer.hpp>
#include <inlay/optim/weight_decay.hpp>

#include <cmath>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// Stochastic gradient descent: w -= lr g.
struct sgd {
  static constexpr char const* name = "sgd";

  float learning_rate = 0.01F;  ///< times the gradient is the step
  weight_decay decay = {};      ///< beside the gradient's step

  void check() const {
    expects(std::isfinite(learning_rate), "the learning rate must be finite");
    decay.check(learning_rate);
  }
  [[nodiscard]] INLAY_HD constexpr std::size_t state_floats(std::size_t) const noexcept {
    return decay.state_floats();
  }
  INLAY_HD constexpr void reset(span<float> state) const noexcept { decay.reset(state); }

  INLAY_HD void update(span<float> row, span<float> state, span<float const> gradient,
                       update_context const& context) const noexcept {
    auto const rate = learning_rate * context.rate_factor;
    decay.apply(row, state, rate, context.step);
    add(row.data(), gradient.data(), -rate, row.size());
  }
};

static_assert(row_optimizer<sgd>);

}  // namespace inlay::inline INLAY_ABI
