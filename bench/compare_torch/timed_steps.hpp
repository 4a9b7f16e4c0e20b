#pragma once

#include <inlay/engine/report.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>

/// What some steps took: seconds by the clock on the wall and of processors, and the engine's
/// own by stage.
struct steps_taken {
  double seconds = 0.0;
  double cpu_seconds = 0.0;  // of all threads of the process
  std::uint64_t samples = 0;
  decltype(inlay::report::stage_seconds) stage_seconds{};
};

/// Calls `steps`, which trains, and says what that took.
template <class Engine, class Steps>
[[nodiscard]] steps_taken timed_steps(Engine const& trainer, Steps const& steps) {
  using clock = std::chrono::steady_clock;
  auto const before = trainer.figures();
  auto const cpu_begun = std::clock();
  auto const begun = clock::now();
  steps();
  auto const ended = clock::now();
  auto const cpu_ended = std::clock();
  auto const after = trainer.figures();
  steps_taken taken{.seconds = std::chrono::duration<double>(ended - begun).count(),
                    .cpu_seconds = static_cast<double>(cpu_ended - cpu_begun) / CLOCKS_PER_SEC,
                    .samples = after.samples - before.samples};
  for (std::size_t s = 0; s < taken.stage_seconds.size(); ++s) {
    taken.stage_seconds[s] = after.stage_seconds[s] - before.stage_seconds[s];
  }
  return taken;
}
