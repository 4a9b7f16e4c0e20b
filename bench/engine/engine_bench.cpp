#include <inlay/engine/engine.hpp>

#include <inlay/batch/batch.hpp>
#include <inlay/cache/lru.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/core/random.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

// A step of 8192 samples and 26 fields without a network: what embeddings alone cost, on one core.
// The counters <stage>_ms say where the time of a step goes; `network` is the copy of gradients.

namespace {

constexpr std::size_t rows = 8192;
constexpr std::size_t fields = 26;
constexpr std::size_t distinct = 30000;  // ids of a field
constexpr std::size_t cache_rows = 200000;

std::vector<inlay::batch> skewed_batches(std::size_t count) {
  std::vector<inlay::batch> result(count);
  std::uint64_t draw = 0;
  for (auto& content : result) {
    content.reset({rows, fields, 0});
    for (auto& id : content.ids()) {
      auto const u = inlay::random_stream{11}.uniform_double(draw++);
      id = static_cast<inlay::raw_id>(u * u * u * distinct);
    }
    for (auto& label : content.labels()) {
      label = 0.0F;
    }
  }
  return result;
}

template <class Engine>
void train(Engine& trainer, inlay::batch const& content, std::vector<float> const& gradient) {
  auto step = trainer.begin(content.view());
  for (auto chunk : step.chunks()) {
    auto const pooled = chunk.pooled();
    chunk.backward({gradient.data(), pooled.rows, pooled.cols});
  }
  trainer.finish(std::move(step));
}

template <class Cache>
void step(benchmark::State& state) {
  auto const dim = static_cast<std::size_t>(state.range(0));
  auto shape = inlay::shape::one_table_per_field(fields, dim);
  if (!std::is_same_v<Cache, inlay::no_cache>) shape.cache_rows = cache_rows;
  inlay::engine trainer{shape, inlay::parts{.exec = inlay::host_exec(1), .cache = Cache{}}};
  auto const batches = skewed_batches(8);
  std::vector<float> const gradient(rows * fields * dim, 1e-3F);
  for (auto const& content : batches) {
    train(trainer, content, gradient);  // so that rows are there, and a cache is full
  }
  auto const before = trainer.figures();
  std::size_t number = 0;
  for (auto _ : state) {
    train(trainer, batches[number++ % batches.size()], gradient);
  }
  auto const after = trainer.figures();
  auto const steps = static_cast<double>(after.steps - before.steps);
  for (std::size_t s = 0; s < inlay::stage_names.size(); ++s) {
    auto const seconds = after.stage_seconds[s] - before.stage_seconds[s];
    if (seconds > 0.0) {
      state.counters[std::string(inlay::stage_names[s]) + "_ms"] = 1e3 * seconds / steps;
    }
  }
  state.counters["unique"] = static_cast<double>(after.rows.unique - before.rows.unique) / steps;
  state.counters["hit_rate"] = static_cast<double>(after.rows.hits - before.rows.hits) /
                               static_cast<double>(after.rows.unique - before.rows.unique);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows));
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(rows * fields * dim * sizeof(float)));
}

BENCHMARK_TEMPLATE(step, inlay::no_cache)
    ->Name("engine/step/in_place")
    ->ArgName("dim")
    ->Arg(16)
    ->Arg(64)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(step, inlay::lru)
    ->Name("engine/step/lru")
    ->ArgName("dim")
    ->Arg(16)
    ->Arg(64)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_TEMPLATE(step, inlay::sieve)
    ->Name("engine/step/sieve")
    ->ArgName("dim")
    ->Arg(16)
    ->Arg(64)
    ->Unit(benchmark::kMillisecond);

}  // namespace
