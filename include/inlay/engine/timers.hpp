#pragma once

#include <inlay/core/ids.hpp>
#include <inlay/engine/report.hpp>
#include <inlay/engine/stage.hpp>
#include <inlay/engine/trace.hpp>

#include <chrono>
#include <cstddef>

// What engine and step measure themselves with. Without a trace, that is a null comparison a stage.

namespace inlay::inline INLAY_ABI {

namespace detail {

/// Adds the time until its end to a stage of a report, and to a trace if there is one: the same two
/// readings of the clock, so that a trace sums up to the report.
class stage_timer {
 public:
  stage_timer(report& figures, trace* into, stage at, step_id step,
              trace::time begun = trace::clock::now(), std::size_t worker = 0) noexcept
      : seconds_(figures.stage_seconds[static_cast<std::size_t>(at)]),
        trace_(into),
        stage_(at),
        step_(step),
        worker_(worker),
        begun_(begun) {}
  stage_timer(stage_timer const&) = delete;
  stage_timer& operator=(stage_timer const&) = delete;
  ~stage_timer() {
    auto const ended = trace::clock::now();
    seconds_ += std::chrono::duration<double>(ended - begun_).count();
    if (trace_ != nullptr) trace_->add(stage_, step_, begun_, ended, worker_);
  }

 private:
  double& seconds_;
  trace* trace_;
  stage stage_;
  step_id step_;
  std::size_t worker_;
  trace::time begun_;
};

/// Adds a step that began at `begun` and ends with the timer to a trace, if there is one.
class step_timer {
 public:
  step_timer(trace* into, step_id step, trace::time begun) noexcept
      : trace_(into), step_(step), begun_(begun) {}
  step_timer(step_timer const&) = delete;
  step_timer& operator=(step_timer const&) = delete;
  ~step_timer() {
    if (trace_ != nullptr) trace_->add_step(step_, begun_, trace::clock::now());
  }

 private:
  trace* trace_;
  step_id step_;
  trace::time begun_;
};

/// Adds what a worker does until its end to a trace, if there is one.
class chunk_timer {
 public:
  chunk_timer(trace* into, step_id step, std::size_t worker) noexcept
      : trace_(into), step_(step), worker_(worker) {
    if (trace_ != nullptr) begun_ = trace::clock::now();
  }
  chunk_timer(chunk_timer const&) = delete;
  chunk_timer& operator=(chunk_timer const&) = delete;
  ~chunk_timer() {
    if (trace_ != nullptr) trace_->add_chunk(step_, worker_, begun_, trace::clock::now());
  }

 private:
  trace* trace_;
  step_id step_;
  std::size_t worker_;
  trace::time begun_;
};

}  // namespace detail

}  // namespace inlay::inline INLAY_ABI
