#include "zipf_keys.hpp"

#include <inlay/table/host_rows.hpp>
#include <inlay/vsid/hash_mapper.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

// What it costs to find or make the rows of a step, on one core. Steps of 8,192 ids, Zipf 1.05,
// each de-duplicated; items are distinct rows.

namespace {

using key = inlay::narrow::key;
using store = inlay::host_rows<inlay::narrow, inlay::uniform>;

constexpr std::size_t dim = 16;
constexpr std::size_t step_ids = 8192;
constexpr std::size_t steps = 200;

store open() {
  return store(inlay::new_row<inlay::narrow, inlay::uniform>({}, 1, dim, {0.01F}, {0.0F}));
}

/// The distinct keys of some steps; all rows of `ids` are in play.
std::vector<std::vector<key>> distinct_steps(std::uint32_t ids) {
  inlay::host_exec const exec(1);
  inlay::hash_mapper::workspace<key> work;
  inlay::id_plan<key> plan;
  std::vector<std::vector<key>> result;
  for (std::size_t step = 0; step < steps; ++step) {
    auto const keys = zipf_keys(step_ids, ids, step);
    inlay::hash_mapper{}.map(exec, inlay::span<key const>(keys.data(), keys.size()), work, plan);
    result.emplace_back(plan.unique.begin(), plan.unique.end());
  }
  return result;
}

/// A table that holds every key of `ids`.
store filled(std::uint32_t ids) {
  auto rows = open();
  inlay::host_exec const exec(1);
  std::vector<key> keys;
  std::vector<float*> at(step_ids);
  for (std::uint32_t rank = 1; rank <= ids; ++rank) {
    keys.push_back(inlay::narrow::pack(inlay::table_id{0}, inlay::mix(rank) >> 16U));
    if (keys.size() == step_ids || rank == ids) {
      (void)rows.find_or_create(exec, {keys.data(), keys.size()}, {at.data(), keys.size()});
      keys.clear();
    }
  }
  return rows;
}

void report(benchmark::State& state, std::size_t items, store const& rows) {
  state.SetItemsProcessed(static_cast<std::int64_t>(items));
  state.counters["bytes_per_row"] =
      static_cast<double>(rows.bytes()) / static_cast<double>(rows.size());
}

void create(benchmark::State& state) {
  auto const batches = distinct_steps(static_cast<std::uint32_t>(state.range(0)));
  inlay::host_exec const exec(1);
  std::vector<float*> at(step_ids);
  std::size_t items = 0;
  auto last = open();
  for (auto _ : state) {
    auto rows = open();
    for (auto const& keys : batches) {
      (void)rows.find_or_create(exec, {keys.data(), keys.size()}, {at.data(), keys.size()});
      items += keys.size();
    }
    last = std::move(rows);
  }
  report(state, items, last);
}

void find_or_create(benchmark::State& state) {
  auto const ids = static_cast<std::uint32_t>(state.range(0));
  auto const batches = distinct_steps(ids);
  auto rows = filled(ids);
  inlay::host_exec const exec(1);
  std::vector<float*> at(step_ids);
  std::size_t items = 0;
  std::size_t step = 0;
  for (auto _ : state) {
    auto const& keys = batches[step++ % steps];
    (void)rows.find_or_create(exec, {keys.data(), keys.size()}, {at.data(), keys.size()});
    benchmark::DoNotOptimize(at.data());
    items += keys.size();
  }
  report(state, items, rows);
}

void find(benchmark::State& state) {
  auto const ids = static_cast<std::uint32_t>(state.range(0));
  auto const batches = distinct_steps(ids);
  auto const rows = filled(ids);
  std::vector<float const*> at(step_ids);
  std::size_t items = 0;
  std::size_t step = 0;
  for (auto _ : state) {
    auto const& keys = batches[step++ % steps];
    rows.find({keys.data(), keys.size()}, {at.data(), keys.size()});
    benchmark::DoNotOptimize(at.data());
    items += keys.size();
  }
  report(state, items, rows);
}

struct bits_hash {
  std::size_t operator()(key row) const noexcept { return hash(row); }
};

void find_by_unordered_map(benchmark::State& state) {
  auto const ids = static_cast<std::uint32_t>(state.range(0));
  auto const batches = distinct_steps(ids);
  std::unordered_map<key, float const*, bits_hash> rows;
  filled(ids).for_each([&](key row, inlay::span<float const> at) { rows[row] = at.data(); });
  std::vector<float const*> at(step_ids);
  std::size_t items = 0;
  std::size_t step = 0;
  for (auto _ : state) {
    auto const& keys = batches[step++ % steps];
    for (std::size_t i = 0; i < keys.size(); ++i) {
      auto const found = rows.find(keys[i]);
      at[i] = found == rows.end() ? nullptr : found->second;
    }
    benchmark::DoNotOptimize(at.data());
    items += keys.size();
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(items));
}

}  // namespace

BENCHMARK(create)->Name("table/create")->ArgName("rows")->Arg(1'000'000);
BENCHMARK(find_or_create)
    ->Name("table/find_or_create")
    ->ArgName("rows")
    ->Arg(100'000)
    ->Arg(1'000'000);
BENCHMARK(find)->Name("table/find")->ArgName("rows")->Arg(100'000)->Arg(1'000'000);
BENCHMARK(find_by_unordered_map)
    ->Name("table/find_std_unordered_map")
    ->ArgName("rows")
    ->Arg(100'000)
    ->Arg(1'000'000);
