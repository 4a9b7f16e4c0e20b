#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/core/power.hpp>
#include <inlay/core/row_math.hpp>
#include <inlay/core/views.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// When a row decays.
enum class decay_mode {
  none,
  on_touch,  ///< in the steps that hold it, so a rare row hardly does
  lazy  ///< in every step from its first on: those without it are made up for at the next touch
};

/// Weight decay beside the gradient's step: w *= 1 - lr rate, then the rule moves w. Accumulators
/// never see it (decoupled, as in AdamW; for `sgd` it is the same as L2 regularisation).
///
/// `lazy` keeps in a row's state the number of its last step, and decays by (1 - lr rate)^(steps
/// since), at the learning rate of today. Until its next touch a row is behind, also in evaluation.
/// Step numbers are floats: beyond 2^24 steps they are even, beyond 2^25 multiples of four, and so
/// on, so that a row decays for no step now and for two later; their sum stays right.
struct weight_decay {
  float rate = 0.0F;                   ///< per step, times the learning rate
  decay_mode mode = decay_mode::none;  ///< when rows decay

  /// Throws for a rate without sense, or one that would turn weights round.
  void check(float learning_rate) const {
    expects(std::isfinite(rate) && rate >= 0, "a weight decay must be zero or more");
    expects(rate == 0 || mode != decay_mode::none,
            "a weight decay has a rate and its mode is none: say on_touch or lazy");
    expects(std::abs(learning_rate) * rate < 1,
            "learning rate times weight decay must be less than one");
  }
  /// Floats that it adds to a row's state.
  [[nodiscard]] INLAY_HD constexpr std::size_t state_floats() const noexcept {
    return mode == decay_mode::lazy ? 1 : 0;
  }
  /// `state`: of the row; its last float is the decay's, if it needs one. Zero: not touched yet.
  INLAY_HD constexpr void reset(span<float> state) const noexcept {
    if (mode == decay_mode::lazy) state[state.size() - 1] = 0.0F;
  }

  /// `step_rate`: the learning rate of this step.
  INLAY_HD void apply(span<float> row, span<float> state, float step_rate,
                      step_id step) const noexcept {
    if (mode == decay_mode::none) return;
    auto const left = 1.0 - double{step_rate} * rate;
    auto const kept = mode == decay_mode::lazy ? power(left > 0.0 ? left : 0.0,
                                                       steps_since(state[state.size() - 1], step))
                                               : left;
    scale(row.data(), static_cast<float>(kept > 0.0 ? kept : 0.0), row.size());
  }

 private:
  /// Steps from a row's last one to this one, which is noted as the last; one at the first touch.
  [[nodiscard]] INLAY_HD static std::uint64_t steps_since(float& last, step_id step) noexcept {
    auto const now = static_cast<float>(number(step) + 1);
    auto const since = last > 0.0F ? now - last : 1.0F;
    last = now;
    return static_cast<std::uint64_t>(since > 0.0F ? since : 0.0F);
  }
};

}  // namespace inlay::inline INLAY_ABI
