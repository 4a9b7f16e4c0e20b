#include "step_batches.hpp"

#include <inlay/batch/loader.hpp>
#include <inlay/cache/lru.hpp>
#include <inlay/engine/engine.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <utility>
#include <vector>

// What it gives to bring rows ahead.
//
// engine/pipeline/even: loading, managing rows and training all sleep, so that they are of one
// size; `load_ms`, `manage_ms` and `train_ms` are what they took, and `over_longest` is the time of
// a step over that of the longest. With depth 0 rows are managed and trained one after the other.
//
// engine/pipeline/ratio: nothing sleeps; steps of 8192 samples and 26 fields behind a cache, where
// half of the distinct rows miss, without a network. `ratio` is the time of a step without reading
// ahead over that with it, both turn by turn.

namespace {

using clock_type = std::chrono::steady_clock;

[[nodiscard]] double since(clock_type::time_point begun) {
  return std::chrono::duration<double>(clock_type::now() - begun).count();
}

/// Seconds that a thread other than the reader's adds up.
class stopwatch {
 public:
  void add(clock_type::time_point begun) {
    ns_ += std::chrono::duration_cast<std::chrono::nanoseconds>(clock_type::now() - begun).count();
  }
  [[nodiscard]] double seconds() const { return static_cast<double>(ns_.load()) / 1e9; }

 private:
  std::atomic<std::int64_t> ns_ = 0;
};

/// Samples whose ids come round after a while, read slowly.
class slow_source {
 public:
  static constexpr std::size_t rows = 64;

  slow_source(std::chrono::microseconds delay, stopwatch& watch) : delay_(delay), watch_(watch) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return std::uint64_t{1} << 24U; }
  [[nodiscard]] std::size_t fields() const noexcept { return step_batches::fields; }
  [[nodiscard]] std::size_t dense_width() const noexcept { return 0; }
  void read(inlay::span<std::uint64_t const> samples, inlay::batch& into) const {
    auto const begun = clock_type::now();
    into.reset({samples.size(), fields(), 0});
    for (std::size_t field = 0; field < fields(); ++field) {
      for (std::size_t row = 0; row < samples.size(); ++row) {
        into.ids()[field * samples.size() + row] = (samples[row] * 7 + field) % 1009;
      }
    }
    std::fill(into.labels().begin(), into.labels().end(), 0.0F);
    std::this_thread::sleep_for(delay_);
    watch_.add(begun);
  }

 private:
  std::chrono::microseconds delay_;
  stopwatch& watch_;
};

/// Rows in host memory that are far away.
template <inlay::key_packing Keys, inlay::initialiser Init>
class far_rows : public inlay::host_rows<Keys, Init> {
 public:
  far_rows(inlay::new_row<Keys, Init> maker, std::chrono::microseconds delay)
      : inlay::host_rows<Keys, Init>(std::move(maker)), delay_(delay) {}

  std::size_t find_or_create(inlay::host_exec const& exec,
                             inlay::span<typename Keys::key const> keys, inlay::span<float*> rows) {
    std::this_thread::sleep_for(delay_);
    return inlay::host_rows<Keys, Init>::find_or_create(exec, keys, rows);
  }

 private:
  std::chrono::microseconds delay_;
};

struct far_table {
  std::chrono::microseconds delay{};

  template <inlay::key_packing Keys, inlay::initialiser Init>
  using store = far_rows<Keys, Init>;
  template <inlay::key_packing Keys, inlay::initialiser Init>
  [[nodiscard]] far_rows<Keys, Init> open(inlay::new_row<Keys, Init> maker) const {
    return far_rows<Keys, Init>(std::move(maker), delay);
  }
};

void even(benchmark::State& state) {
  std::chrono::microseconds const delay(state.range(1));
  stopwatch loading;
  slow_source const source(delay, loading);
  std::vector<std::uint64_t> samples(source.size() / 64);
  std::iota(samples.begin(), samples.end(), std::uint64_t{0});
  inlay::loader stream(source, std::move(samples), {.read_ahead = 2});
  auto shape = inlay::shape::one_table_per_field(step_batches::fields, 16);
  shape.batch = slow_source::rows;
  shape.prefetch = static_cast<std::size_t>(state.range(0));
  shape.cache_rows = (shape.prefetch + 1) * shape.batch * step_batches::fields;
  inlay::engine trainer{
      shape,
      inlay::parts{.exec = inlay::host_exec(1), .table = far_table{delay}, .cache = inlay::lru{}}};
  double training = 0.0;
  double all = 0.0;
  for (int warm = 0; warm < 3; ++warm) {
    auto step = trainer.next(stream);
    for (auto chunk : step->chunks())
      chunk.backward(chunk.pooled());
    trainer.finish(std::move(*step));
  }
  auto const before = trainer.figures();
  auto const loaded = loading.seconds();
  for (auto _ : state) {
    auto const begun = clock_type::now();
    auto step = trainer.next(stream);
    auto const at_hand = clock_type::now();
    for (auto chunk : step->chunks())
      chunk.backward(chunk.pooled());
    std::this_thread::sleep_for(delay);
    trainer.finish(std::move(*step));
    training += since(at_hand);
    all += since(begun);
    state.SetIterationTime(since(begun));
  }
  auto const after = trainer.figures();
  auto const steps = static_cast<double>(after.steps - before.steps);
  auto const of = [&](inlay::stage at) { return after.seconds(at) - before.seconds(at); };
  auto const load = (loading.seconds() - loaded) / steps;
  auto const manage = (of(inlay::stage::map) + of(inlay::stage::bring)) / steps;
  auto const train = (training + of(inlay::stage::pool)) / steps;
  state.counters["load_ms"] = 1e3 * load;
  state.counters["manage_ms"] = 1e3 * manage;
  state.counters["train_ms"] = 1e3 * train;
  state.counters["over_longest"] = all / steps / std::max({load, manage, train});
}

/// Batches round and round.
class round_trip {
 public:
  explicit round_trip(step_batches const& batches) : batches_(batches) {}
  [[nodiscard]] std::uint64_t size() const { return std::uint64_t{1} << 40U; }
  [[nodiscard]] inlay::batch_view read(inlay::sample_range range) const {
    auto const& all = batches_.all();
    return all[range.first / step_batches::rows % all.size()].view();
  }

 private:
  step_batches const& batches_;
};

void ratio(benchmark::State& state) {
  step_batches const batches(0.5);
  auto const engine_of = [&](std::size_t prefetch) {
    auto shape = inlay::shape::one_table_per_field(step_batches::fields,
                                                   static_cast<std::size_t>(state.range(1)));
    shape.batch = step_batches::rows;
    shape.prefetch = prefetch;
    shape.cache_rows = (prefetch + 1) * batches.cache_rows();
    auto const parts = inlay::parts{
        .exec = inlay::host_exec(static_cast<std::size_t>(state.range(2))), .cache = inlay::lru{}};
    return std::make_unique<inlay::engine<std::remove_const_t<decltype(parts)>>>(shape, parts);
  };
  auto const serial = engine_of(0);
  auto const ahead = engine_of(static_cast<std::size_t>(state.range(0)));
  round_trip const stream(batches);
  auto const train = [&](auto& trainer) {
    constexpr int steps = 4;  // in a row, or the thread of one would work while the other trains
    auto const begun = clock_type::now();
    for (int i = 0; i < steps; ++i) {
      auto step = trainer.next(stream);
      step->each_chunk([](auto const& chunk, std::size_t) {
        auto const gradient = chunk.pooled_gradient();
        std::fill_n(gradient.data, gradient.size(), 1e-3F);
        chunk.backward(gradient);
      });
      trainer.finish(std::move(*step));
    }
    static_cast<void>(trainer.figures());  // waits for what is under way
    return since(begun) / steps;
  };
  for (int warm = 0; warm < 6; ++warm) {
    train(*serial);
    train(*ahead);
  }
  double own = 0.0;
  double other = 0.0;
  for (auto _ : state) {
    other += train(*serial);
    auto const seconds = train(*ahead);
    own += seconds;
    state.SetIterationTime(seconds);
  }
  state.counters["ratio"] = other / own;
}

}  // namespace

BENCHMARK(even)
    ->Name("engine/pipeline/even")
    ->ArgNames({"depth", "sleep_us"})
    ->ArgsProduct({{0, 1, 2, 4}, {5000}})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(ratio)
    ->Name("engine/pipeline/ratio")
    ->ArgNames({"depth", "dim", "threads"})
    ->ArgsProduct({{1, 2}, {16, 64}, {1, 2}})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
