#pragma once

#include <inlay/core/error.hpp>
#include <inlay/optim/rate_schedule.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

namespace inlay::inline INLAY_ABI::testing {

/// Checks the law of every `rate_schedule`, at samples near and far: the factor lies between zero
/// and one and is the same for the same samples. Throws `error` where it does not hold.
template <rate_schedule Schedule>
void check_rate_schedule(Schedule const& schedule) {
  schedule.check();
  std::uint64_t samples = 0;
  while (samples < std::numeric_limits<std::uint64_t>::max() / 2) {
    auto const factor = schedule.factor(samples);
    if (!(factor >= 0.0F && factor <= 1.0F) || schedule.factor(samples) != factor) {
      fail("a rate schedule must give a factor between zero and one, the same every time (" +
           std::to_string(samples) + " samples)");
    }
    samples += samples < 1000 ? 1 : samples / 7;
  }
}

}  // namespace inlay::inline INLAY_ABI::testing
