#include <inlay/engine/engine.hpp>

#include "raw_rows.hpp"
#include "step_batches.hpp"

#include <inlay/cache/lru.hpp>
#include <inlay/cache/sieve.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// A step of 8192 samples and 26 fields without a network: look-up, pooling, backward and row-wise
// Adagrad. The gradient lies where the step wants it, as it would with a network that writes there.
// Counters <stage>_ms say where the time of a step goes (`network` is the check that the gradient
// is finite); `miss_rate` is of distinct rows. `share` is the time of a raw gather and scatter of
// the same rows, of which nobody has to find the addresses, over that of the step: both turn by
// turn.

namespace {

[[nodiscard]] double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// `first`: whether the step's memory is new, so that nobody has written a gradient there yet.
template <class Engine>
void train(Engine& trainer, inlay::batch const& content, bool first) {
  auto step = trainer.begin(content.view());
  step.each_chunk([&](auto const& chunk, std::size_t) {
    auto const gradient = chunk.pooled_gradient();
    if (first) std::fill_n(gradient.data, gradient.size(), 1e-3F);
    chunk.backward(gradient);
  });
  trainer.finish(std::move(step));
}

template <class Cache>
void step(benchmark::State& state) {
  auto const dim = static_cast<std::size_t>(state.range(0));
  auto const threads = static_cast<std::size_t>(state.range(1));
  auto const missed = static_cast<double>(state.range(2)) / 100.0;
  constexpr bool is_cached = !std::is_same_v<Cache, inlay::no_cache>;
  step_batches const batches(missed);
  auto shape = inlay::shape::one_table_per_field(step_batches::fields, dim);
  if (is_cached) shape.cache_rows = batches.cache_rows();
  inlay::engine trainer{shape, inlay::parts{.exec = inlay::host_exec(threads), .cache = Cache{}}};
  raw_rows raw(batches.all().front(), dim, inlay::host_exec(threads));
  for (std::size_t round = 0; round < 2; ++round) {
    for (auto const& content : batches.all()) {
      train(trainer, content, true);  // so that rows are there, and a cache is full
    }
  }
  auto const before = trainer.figures();
  std::size_t number = 0;
  double own = 0.0;
  double other = 0.0;
  for (auto _ : state) {
    auto const start = seconds_now();
    train(trainer, batches.all()[number++ % batches.all().size()], false);
    auto const between = seconds_now();
    raw.gather_and_scatter();
    own += between - start;
    other += seconds_now() - between;
    state.SetIterationTime(between - start);
  }
  auto const after = trainer.figures();
  auto const steps = static_cast<double>(after.steps - before.steps);
  for (std::size_t s = 0; s < inlay::stage_names.size(); ++s) {
    auto const seconds = after.stage_seconds[s] - before.stage_seconds[s];
    if (seconds > 0.0) {
      state.counters[std::string(inlay::stage_names[s]) + "_ms"] = 1e3 * seconds / steps;
    }
  }
  auto const unique = static_cast<double>(after.rows.unique - before.rows.unique);
  state.counters["unique"] = unique / steps;
  state.counters["miss_rate"] =
      static_cast<double>(after.rows.misses - before.rows.misses) / unique;
  state.counters["share"] = other / own;
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(step_batches::rows));
}

/// Tables of so many widths, 17 in the mean: an odd one, as 16 is quicker than what lies around it.
[[nodiscard]] inlay::shape of_widths(std::size_t widths) {
  auto shape = inlay::shape::one_table_per_field(step_batches::fields, 17);
  for (std::size_t t = 0; t < shape.tables.size(); ++t) {
    shape.tables[t].dim = 17 + 4 * (t % widths) - 2 * (widths - 1);
  }
  return shape;
}

/// What it costs that tables differ in width: the time of a step where all are 17 wide, over that
/// of one where they are of `widths` different ones around it. Turn by turn.
void widths(benchmark::State& state) {
  step_batches const batches(0.1);
  inlay::parts const parts{.exec = inlay::host_exec(static_cast<std::size_t>(state.range(1)))};
  inlay::engine many{of_widths(static_cast<std::size_t>(state.range(0))), parts};
  inlay::engine one{of_widths(1), parts};
  for (std::size_t round = 0; round < 2; ++round) {
    for (auto const& content : batches.all()) {
      train(many, content, true);
      train(one, content, true);
    }
  }
  std::size_t number = 0;
  double own = 0.0;
  double other = 0.0;
  for (auto _ : state) {
    auto const& content = batches.all()[number++ % batches.all().size()];
    auto const start = seconds_now();
    train(many, content, false);
    auto const between = seconds_now();
    train(one, content, false);
    own += between - start;
    other += seconds_now() - between;
    state.SetIterationTime(between - start);
  }
  state.counters["ratio"] = other / own;
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(step_batches::rows));
}

void in_place(benchmark::internal::Benchmark* each) {
  each->ArgNames({"dim", "threads", "cold_percent"})->ArgsProduct({{16, 64}, {1, 2}, {10}});
}
void cached(benchmark::internal::Benchmark* each) {
  each->ArgNames({"dim", "threads", "cold_percent"})->ArgsProduct({{16, 64}, {1, 2}, {0, 10, 50}});
}

}  // namespace

BENCHMARK(step<inlay::no_cache>)
    ->Name("engine/step/in_place")
    ->Apply(in_place)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(step<inlay::lru>)
    ->Name("engine/step/lru")
    ->Apply(cached)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(step<inlay::sieve>)
    ->Name("engine/step/sieve")
    ->Apply(cached)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
BENCHMARK(widths)
    ->Name("engine/widths")
    ->ArgNames({"widths", "threads"})
    ->ArgsProduct({{1, 2, 4, 8}, {1, 2}})
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
