#pragma once

#include <inlay/core/ids.hpp>
#include <inlay/engine/report.hpp>
#include <inlay/engine/stage.hpp>
#include <inlay/engine/timers.hpp>
#include <inlay/engine/trace.hpp>

#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// How far a training has got, and what it took.
struct progress {
  report figures;             ///< so far
  step_id step{};             ///< that is at hand, or comes next
  std::uint64_t samples = 0;  ///< applied, which is what learning rates go by
  trace* recorded = nullptr;  ///< where stages are recorded, if anywhere

  /// Counts the time until its end as a stage of the step at hand.
  [[nodiscard]] detail::stage_timer timed(stage at,
                                          trace::time begun = trace::clock::now()) noexcept {
    return {figures, recorded, at, step, begun};
  }

  /// A step of so many samples is applied.
  void advance(std::size_t rows) noexcept {
    step = next(step);
    samples += rows;
    ++figures.steps;
    figures.samples += rows;
  }
};

}  // namespace inlay::inline INLAY_ABI
