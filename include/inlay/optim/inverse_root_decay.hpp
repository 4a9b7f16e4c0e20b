#pragma once

#include <inlay/core/error.hpp>
#include <inlay/optim/rate_schedule.hpp>

#include <cmath>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// A warm-up, then √(warm_up / samples) (Vaswani et al. 2017, section 5.3): falls for ever, without
/// an end that must be known.
struct inverse_root_decay {
  static constexpr char const* name = "inverse_root";

  std::uint64_t warm_up = 100'000;  ///< samples over which the rate rises from zero

  void check() const {
    expects(warm_up > 0, "an inverse-root decay needs a warm-up: it decays from its end");
  }
  [[nodiscard]] float factor(std::uint64_t samples) const noexcept {
    if (samples < warm_up) return warmed_up(samples, warm_up);
    return static_cast<float>(
        std::sqrt(static_cast<double>(warm_up) / static_cast<double>(samples)));
  }
};

static_assert(rate_schedule<inverse_root_decay>);

}  // namespace inlay::inline INLAY_ABI
