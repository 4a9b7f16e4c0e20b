#pragma once

#include <inlay/core/columns.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/power.hpp>
#include <inlay/optim/row_optimizer.hpp>
#include <inlay/optim/weight_decay.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Adam (Kingma and Ba 2015), lazily: a step moves the rows that it holds, others rest with their
/// moments. m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g²; w -= lr (m / (1 - b1^t)) / (√(v / (1 -
/// b2^t)) + ε): the new moments move the row, ε stands behind the correction, as in PyTorch. With
/// `decay` it is AdamW.
///
/// Which t? By `clock::row` the updates of the row, so that each row begins with a step of lr. By
/// `clock::global` the steps of the engine, as in PyTorch's SparseAdam: a row first seen late is
/// not corrected and begins with (1 - b1) / √(1 - b2) lr, 3.16 lr as a rule.
struct adam {
  static constexpr char const* name = "adam";
  /// Whose updates the corrections count.
  enum class clock {
    row,    ///< those of the row
    global  ///< all steps of the engine
  };

  float learning_rate = 0.001F;   ///< of a step before it is scaled
  float beta1 = 0.9F;             ///< what is left of the mean gradient after a step
  float beta2 = 0.999F;           ///< and of the mean square
  float epsilon = 1e-8F;          ///< added to the corrected root
  clock bias_clock = clock::row;  ///< what t counts
  weight_decay decay = {};        ///< beside the gradient's step

  void check() const {
    expects(std::isfinite(learning_rate), "the learning rate must be finite");
    expects(beta1 >= 0 && beta1 < 1 && beta2 >= 0 && beta2 < 1,
            "adam's betas must be at least zero and less than one");
    expects(std::isfinite(epsilon) && epsilon > 0,
            "epsilon must be positive: it stands in a divisor");
    decay.check(learning_rate);
  }
  /// m (dim), v (dim), and by the row's clock 1 - b1^t and 1 - b2^t.
  [[nodiscard]] INLAY_HD constexpr std::size_t state_floats(std::size_t dim) const noexcept {
    return 2 * dim + (bias_clock == clock::row ? 2 : 0) + decay.state_floats();
  }
  INLAY_HD constexpr void reset(span<float> state) const noexcept {
    for (auto& each : state) {
      each = 0.0F;
    }
    decay.reset(state);
  }

  INLAY_HD void update(span<float> row, span<float> state, span<float const> gradient,
                       update_context const& context) const noexcept {
    auto const rate = learning_rate * context.rate_factor;
    decay.apply(row, state, rate, context.step);
    auto* const means = state.data();
    auto* const squares = means + row.size();
    auto const seen = bias_clock == clock::row ? seen_by_row(squares + row.size())
                                               : seen_by(number(context.step) + 1);
    auto const pace = rate / seen.of_mean;
    auto const stretch = 1.0F / square_root(seen.of_square);
    for_columns(row.size(), [=, new1 = 1.0F - beta1, new2 = 1.0F - beta2, least = epsilon,
                             weights = row.data(), slopes = gradient.data()](auto at) {
      auto const slope = at.load(slopes);
      auto mean = at.load(means);
      auto square = at.load(squares);
      mean = mean + new1 * (slope - mean);
      square = square + new2 * (slope * slope - square);
      at.store(means, mean);
      at.store(squares, square);
      auto const divisor = stretch * square_root(square) + least;
      at.store(weights, at.load(weights) - pace * mean / divisor);
    });
  }

 private:
  /// The weights of all gradients so far in the moments: 1 - b^t. The rest are those of the zeros
  /// that the moments began as, and the correction divides them away.
  struct weights_seen {
    float of_mean;
    float of_square;
  };

  /// Kept as 1 - b^t, not as t or b^t: no power to take, no cancellation, no end of counting.
  [[nodiscard]] INLAY_HD weights_seen seen_by_row(float* seen) const noexcept {
    seen[0] += (1.0F - beta1) * (1.0F - seen[0]);
    seen[1] += (1.0F - beta2) * (1.0F - seen[1]);
    return {seen[0], seen[1]};
  }
  [[nodiscard]] INLAY_HD weights_seen seen_by(std::int64_t steps) const noexcept {
    return {seen_by(steps, beta1), seen_by(steps, beta2)};
  }
  [[nodiscard]] INLAY_HD static float seen_by(std::int64_t steps, float beta) noexcept {
    // b^t <= exp(-t (1 - b)), and what is below exp(-18) no float takes from one.
    auto const done = static_cast<double>(steps) * (1.0 - double{beta}) > 18.0;
    return done ? 1.0F : static_cast<float>(1.0 - power(beta, static_cast<std::uint64_t>(steps)));
  }
};

static_assert(row_optimizer<adam>);

}  // namespace inlay::inline INLAY_ABI
