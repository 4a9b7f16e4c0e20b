#include <inlay/bag/backward.hpp>
#include <inlay/bag/bag_list.hpp>
#include <inlay/bag/forward.hpp>
#include <inlay/batch/batch.hpp>
#include <inlay/core/random.hpp>
#include <inlay/vsid/hash_mapper.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// Pooling and its transpose on one core, one id a bag, ids skewed as in click logs. `ratio` is how
// fast they are against a bare gather of the same rows, timed in the same process just before.

namespace {

constexpr std::size_t rows = 8192;
constexpr std::size_t fields = 26;
constexpr std::size_t distinct = 30000;  // ids of a field

/// A batch whose rows lie in a table much larger than the caches of a CPU.
struct pooled_batch {
  explicit pooled_batch(std::size_t row_dim) : dim(row_dim) {
    content.reset({rows, fields, 0});
    for (std::size_t i = 0; i < content.ids().size(); ++i) {
      auto const u = inlay::random_stream{7}.uniform_double(i);
      content.ids()[i] = static_cast<inlay::raw_id>(u * u * u * distinct);
    }
    std::vector<inlay::bag_field<inlay::sum>> reads;
    for (std::size_t field = 0; field < fields; ++field) {
      reads.push_back({field, static_cast<inlay::table_id>(field), field * dim, {}});
    }
    inlay::buffer<inlay::narrow::key> keys;
    inlay::collect_bags<inlay::narrow, inlay::sum>(exec, content.view(), {reads.data(), fields},
                                                   rows, fields * dim, bags, keys);
    inlay::hash_mapper::workspace<inlay::narrow::key> work;
    inlay::hash_mapper{}.map(exec, std::as_const(keys).view(), work, plan);
    table.assign(plan.size() * dim, 0.5F);
    for (std::size_t v = 0; v < plan.size(); ++v) {
      // As a table hands its rows out: not in the order of the batch.
      places.push_back(table.data() + (v * 7919 % plan.size()) * dim);
    }
    pooled.assign(rows * fields * dim, 0.0F);
  }

  void forward() {
    inlay::pool_bags(exec, bags, std::as_const(plan.virtual_ids).view(),
                     {places.data(), places.size()}, dim, pooled.data());
  }

  void backward() {
    inlay::tree_sum sums(dim);
    gradient_places.resize(bags.places.size());
    inlay::row_gradients<inlay::narrow::key> gradient_of(bags, plan, pooled.data(), dim,
                                                         gradient_places.view(), sums);
    gradient_of.open(0, plan.size());
    float sum = 0.0F;
    std::vector<float> gradient(dim);
    for (std::size_t v = 0; v < plan.size(); ++v) {
      gradient_of(v, gradient.data());
      sum += gradient[0];
    }
    benchmark::DoNotOptimize(sum);
  }

  void gather() {
    for (std::size_t i = 0; i < plan.virtual_ids.size(); ++i) {
      std::copy_n(places[plan.virtual_ids[i]], dim, pooled.data() + bags.places[i]);
    }
    benchmark::DoNotOptimize(pooled.data());
  }

  [[nodiscard]] std::size_t bytes() const { return rows * fields * dim * sizeof(float); }

  std::size_t dim;
  inlay::host_exec exec{1};
  inlay::batch content;
  inlay::bag_list bags;
  inlay::id_plan<inlay::narrow::key> plan;
  inlay::buffer<std::uint32_t> gradient_places;
  std::vector<float> table;
  std::vector<float const*> places;
  std::vector<float> pooled;
};

[[nodiscard]] double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds of a bare gather, the best of a few.
[[nodiscard]] double gather_seconds(pooled_batch& batch) {
  auto best = 1e9;
  for (int trial = 0; trial < 9; ++trial) {
    auto const begun = now();
    batch.gather();
    best = std::min(best, now() - begun);
  }
  return best;
}

template <void (pooled_batch::*Work)()>
void run(benchmark::State& state) {
  pooled_batch batch(static_cast<std::size_t>(state.range(0)));
  auto const gather = gather_seconds(batch);
  auto best = 1e9;
  for (auto _ : state) {
    auto const begun = now();
    (batch.*Work)();
    best = std::min(best, now() - begun);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows * fields));
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(batch.bytes()));
  state.counters["ratio"] = gather / best;
}

BENCHMARK_TEMPLATE(run, &pooled_batch::gather)
    ->Name("bag/gather")
    ->ArgName("dim")
    ->Arg(16)
    ->Arg(64);
BENCHMARK_TEMPLATE(run, &pooled_batch::forward)
    ->Name("bag/forward")
    ->ArgName("dim")
    ->Arg(16)
    ->Arg(64);
BENCHMARK_TEMPLATE(run, &pooled_batch::backward)
    ->Name("bag/backward")
    ->ArgName("dim")
    ->Arg(16)
    ->Arg(64);

}  // namespace
