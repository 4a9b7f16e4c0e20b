#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/row_math.hpp>
#include <inlay/optim/row_optimizer.hpp>

#include <cmath>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// Stochastic gradient descent: w -= lr g.
struct sgd {
  static constexpr char const* name = "sgd";

  float learning_rate = 0.01F;

  void check() const { expects(std::isfinite(learning_rate), "the learning rate must be finite"); }
  [[nodiscard]] INLAY_HD constexpr std::size_t state_floats(std::size_t) const noexcept {
    return 0;
  }
  INLAY_HD constexpr void reset(span<float>) const noexcept {}

  INLAY_HD void update(span<float> row, span<float>, span<float const> gradient,
                       update_context const& context) const noexcept {
    add(row.data(), gradient.data(), -learning_rate * context.rate_factor, row.size());
  }
};

static_assert(row_optimizer<sgd>);

}  // namespace inlay::inline INLAY_ABI
