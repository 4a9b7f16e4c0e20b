#pragma once

#include <inlay/optim/rate_schedule.hpp>

#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// The rate of the optimizer, from the first step or after a warm-up.
struct constant_rate {
  static constexpr char const* name = "constant";

  std::uint64_t warm_up = 0;  ///< samples over which the rate rises from zero

  void check() const {}
  [[nodiscard]] float factor(std::uint64_t samples) const noexcept {
    return warmed_up(samples, warm_up);
  }
};

static_assert(rate_schedule<constant_rate>);

}  // namespace inlay::inline INLAY_ABI
