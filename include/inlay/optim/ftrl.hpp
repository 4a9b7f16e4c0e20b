#pragma once

#include <inlay/core/columns.hpp>
#include <inlay/core/error.hpp>
#include <inlay/optim/row_optimizer.hpp>

#include <cmath>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// FTRL-proximal (McMahan et al. 2013, algorithm 1): n' = n + g²; z += g - (√n' - √n)/lr w; w = 0
/// where |z| <= l1, else (sign(z) l1 - z) / ((beta + √n')/lr + l2). For weights of which most
/// should be zero, such as those of logistic regression.
///
/// The state holds n and lr z in place of z, so that a change of the rate, by a schedule say, moves
/// no row that has no gradient; at a constant rate it is the paper's. A row is what z and n say: of
/// the weights that it was created with hardly anything is left after its first step.
struct ftrl {
  static constexpr char const* name = "ftrl";

  float learning_rate = 0.1F;  ///< of a step before it is scaled
  float beta = 1.0F;           ///< makes the first steps smaller
  float l1 = 0.0F;             ///< weights are zero where |z| is not beyond it
  float l2 = 0.0F;             ///< pulls weights towards zero

  void check() const {
    expects(std::isfinite(learning_rate) && learning_rate >= 0,
            "the learning rate of ftrl must be finite, and zero or more");
    expects(std::isfinite(beta) && beta > 0,
            "ftrl's beta must be positive: it stands in a divisor");
    expects(std::isfinite(l1) && l1 >= 0 && std::isfinite(l2) && l2 >= 0,
            "l1 and l2 must be zero or more");
  }
  /// n (dim), then lr z (dim).
  [[nodiscard]] INLAY_HD constexpr std::size_t state_floats(std::size_t dim) const noexcept {
    return 2 * dim;
  }
  INLAY_HD constexpr void reset(span<float> state) const noexcept {
    for (auto& each : state) {
      each = 0.0F;
    }
  }

  INLAY_HD void update(span<float> row, span<float> state, span<float const> gradient,
                       update_context const& context) const noexcept {
    auto const rate = learning_rate * context.rate_factor;
    if (rate == 0.0F) return;
    auto* const squares = state.data();
    auto* const pulls = squares + row.size();
    for_columns(row.size(), [=, limit = rate * l1, least = beta + rate * l2, weights = row.data(),
                             slopes = gradient.data()](auto at) {
      auto const slope = at.load(slopes);
      auto const before = at.load(squares);
      auto const after = before + slope * slope;
      auto const root = square_root(after);
      auto const pull =
          at.load(pulls) + rate * slope - (root - square_root(before)) * at.load(weights);
      at.store(squares, after);
      at.store(pulls, pull);
      // sign(z) l1 beyond the limits and z within them, so no sign is ever taken.
      auto const held = within(pull, at.all(-limit), at.all(limit));
      at.store(weights, (held - pull) / (root + least));
    });
  }

 private:
  template <class Value>
  [[nodiscard]] INLAY_HD static Value within(Value value, Value low, Value high) noexcept {
    value = value < low ? low : value;
    return value > high ? high : value;
  }
};

static_assert(row_optimizer<ftrl>);

}  // namespace inlay::inline INLAY_ABI
