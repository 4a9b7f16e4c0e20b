#pragma once

#include <inlay/core/checks_knobs.hpp>
#include <inlay/core/config.hpp>

#include <concepts>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Says what the learning rate is multiplied by.
template <class T>
concept has_rate_factor = requires(T const schedule, std::uint64_t samples) {
  { schedule.factor(samples) } noexcept -> std::same_as<float>;
};

/// How the learning rate changes while a run goes on, as a factor of the optimizer's, by the
/// samples applied before a step: counted in updates, a rate would depend on how many workers make
/// one, and asynchronous training would look like divergence. Laws: testing/rate_schedule_laws.hpp.
template <class T>
concept rate_schedule = std::copyable<T> && checks_knobs<T> && has_rate_factor<T>;

/// Zero to one over the first `warm_up` samples, in a line. The very first step moves nothing then.
[[nodiscard]] constexpr float warmed_up(std::uint64_t samples, std::uint64_t warm_up) noexcept {
  return samples < warm_up
             ? static_cast<float>(static_cast<double>(samples) / static_cast<double>(warm_up))
             : 1.0F;
}

}  // namespace inlay::inline INLAY_ABI
