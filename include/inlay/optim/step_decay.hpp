#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/power.hpp>
#include <inlay/optim/rate_schedule.hpp>

#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// A warm-up, and after every so many samples a rate that is `ratio` of the one before.
struct step_decay {
  static constexpr char const* name = "step";

  std::uint64_t warm_up = 0;  ///< samples over which the rate rises from zero
  std::uint64_t every = 0;    ///< samples, counted from the first
  float ratio = 0.5F;         ///< of the rate behind a step to that before it

  void check() const {
    expects(every > 0, "a step decay needs to know after how many samples it steps");
    expects(ratio >= 0 && ratio <= 1, "the ratio of a step decay must lie between zero and one");
  }
  [[nodiscard]] float factor(std::uint64_t samples) const noexcept {
    return warmed_up(samples, warm_up) * static_cast<float>(power(ratio, samples / every));
  }
};

static_assert(rate_schedule<step_decay>);

}  // namespace inlay::inline INLAY_ABI
