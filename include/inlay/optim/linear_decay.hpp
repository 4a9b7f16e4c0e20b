#pragma once

#include <inlay/core/error.hpp>
#include <inlay/optim/rate_schedule.hpp>

#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// A warm-up, then a line down to `last` at `end` samples, and `last` from there on.
struct linear_decay {
  static constexpr char const* name = "linear";

  std::uint64_t warm_up = 0;  ///< samples over which the rate rises from zero
  std::uint64_t end = 0;      ///< samples
  float last = 0.0F;          ///< factor at the end

  void check() const {
    expects(end > warm_up, "a linear decay must end after its warm-up: say at how many samples");
    expects(last >= 0 && last <= 1, "the last factor of a decay must lie between zero and one");
  }
  [[nodiscard]] float factor(std::uint64_t samples) const noexcept {
    if (samples < warm_up) return warmed_up(samples, warm_up);
    if (samples >= end) return last;
    return last + (1.0F - last) * (1.0F - warmed_up(samples - warm_up, end - warm_up));
  }
};

static_assert(rate_schedule<linear_decay>);

}  // namespace inlay::inline INLAY_ABI
