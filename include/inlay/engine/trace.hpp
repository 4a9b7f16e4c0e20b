#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/engine/stage.hpp>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// When each stage of each step ran, and on which thread, for a picture of it: chrome://tracing and
/// ui.perfetto.dev show what `write` writes.
///
/// ```cpp
/// inlay::trace seen;
/// trainer.attach(seen);
/// ...
/// seen.write(file);
/// ```
///
/// Memory is taken once. Events beyond it are counted, not kept, so that a trace of a long run
/// shows its beginning. Threads may add events side by side.
class trace {
 public:
  using clock = std::chrono::steady_clock;  ///< of all events
  using time = clock::time_point;           ///< when an event began or ended

  /// Room for so many events, of 48 bytes each. A step has at most eight stages, itself, and its
  /// chunks.
  explicit trace(std::size_t most_events = std::size_t{1} << 18U) : events_(most_events) {
    expects(most_events > 0, "a trace needs room for an event");
  }

  /// A stage, on the thread that drives the engine, or on another one with a number of its own.
  /// `load` and what is done ahead come before their step, the others in it.
  void add(stage at, step_id step, time begun, time ended, std::size_t worker = 0) noexcept {
    put({stage_names[static_cast<std::size_t>(at)], "stage", step, worker}, begun, ended);
  }
  /// A step, from `begin` to the end of `finish`.
  void add_step(step_id step, time begun, time ended) noexcept {
    put({"step", "step", step, 0}, begun, ended);
  }
  /// A chunk in the hands of `step::each_chunk`, on a worker of the pool; 0 is the thread that
  /// drives the engine.
  void add_chunk(step_id step, std::size_t worker, time begun, time ended) noexcept {
    put({"chunk", "chunk", step, worker}, begun, ended);
  }

  /// Events that are kept.
  [[nodiscard]] std::size_t size() const noexcept {
    auto const seen = seen_.load();
    return seen < events_.size() ? seen : events_.size();
  }
  /// Events that came when there was no more room.
  [[nodiscard]] std::size_t dropped() const noexcept { return seen_.load() - size(); }

  /// Writes all events as JSON in Chrome's trace event format: complete events ("ph": "X") with
  /// `ts` and `dur` in microseconds since the trace was made, `tid` the worker. Nobody may add
  /// events meanwhile. Whether the stream took everything is for the caller to ask.
  void write(std::ostream& out) const {
    out << "{\"displayTimeUnit\": \"ms\",\n\"otherData\": {\"dropped_events\": "
        << std::to_string(dropped()) << "},\n\"traceEvents\": [";
    auto const count = size();
    for (std::size_t i = 0; i < count; ++i) {
      out << (i == 0 ? "\n" : ",\n") << json(events_[i]);
    }
    out << "\n]}\n";
  }

 private:
  struct event {
    char const* name = nullptr;
    char const* category = nullptr;
    step_id step{};
    std::size_t worker = 0;
    std::int64_t begun_ns = 0;  // since the trace was made
    std::int64_t ns = 0;
  };

  void put(event what, time begun, time ended) noexcept {
    auto const place = seen_.fetch_add(1, std::memory_order_relaxed);
    if (place >= events_.size()) return;
    what.begun_ns = since(made_, begun);
    what.ns = since(begun, ended);
    events_[place] = what;
  }

  [[nodiscard]] static std::int64_t since(time first, time then) noexcept {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(then - first).count();
  }

  /// Microseconds, every nanosecond kept. The format wants decimals, not exponents.
  [[nodiscard]] static std::string microseconds(std::int64_t ns) {
    auto const digits = std::to_string(1000 + ns % 1000);
    return std::to_string(ns / 1000) + "." + digits.substr(1);
  }

  [[nodiscard]] static std::string json(event const& what) {
    return std::string("{\"name\": \"") + what.name + "\", \"cat\": \"" + what.category +
           "\", \"ph\": \"X\", \"ts\": " + microseconds(what.begun_ns) +
           ", \"dur\": " + microseconds(what.ns) +
           ", \"pid\": 0, \"tid\": " + std::to_string(what.worker) +
           ", \"args\": {\"step\": " + std::to_string(number(what.step)) + "}}";
  }

  time made_ = clock::now();
  std::vector<event> events_;
  std::atomic<std::size_t> seen_ = 0;
};

}  // namespace inlay::inline INLAY_ABI
