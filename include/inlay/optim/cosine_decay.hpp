#pragma once

#include <inlay/core/error.hpp>
#include <inlay/optim/rate_schedule.hpp>

#include <cmath>
#include <cstdint>
#include <numbers>

namespace inlay::inline INLAY_ABI {

/// A warm-up, then half a wave of the cosine down to `last` at `end` samples, and `last` from there
/// on (Loshchilov and Hutter 2017, without restarts).
struct cosine_decay {
  static constexpr char const* name = "cosine";

  std::uint64_t warm_up = 0;  ///< samples over which the rate rises from zero
  std::uint64_t end = 0;      ///< samples
  float last = 0.0F;          ///< factor at the end

  void check() const {
    expects(end > warm_up, "a cosine decay must end after its warm-up: say at how many samples");
    expects(last >= 0 && last <= 1, "the last factor of a decay must lie between zero and one");
  }
  [[nodiscard]] float factor(std::uint64_t samples) const noexcept {
    if (samples < warm_up) return warmed_up(samples, warm_up);
    if (samples >= end) return last;
    auto const way = warmed_up(samples - warm_up, end - warm_up);
    return last + (1.0F - last) * (0.5F + 0.5F * std::cos(std::numbers::pi_v<float> * way));
  }
};

static_assert(rate_schedule<cosine_decay>);

}  // namespace inlay::inline INLAY_ABI
