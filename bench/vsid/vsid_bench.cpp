#include "zipf_keys.hpp"

#include <inlay/vsid/hash_mapper.hpp>
#include <inlay/vsid/sort_mapper.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <unordered_map>
#include <vector>

// What it costs to number the distinct ids of a step: 26 fields of 8,192 rows, one in three
// distinct. The mappers also make the transpose that backward walks; their opponents, as one would
// write them, do not. `ratio` is the time of std::unordered_map over that of the mapper, best of
// some rounds in the same process just before.

namespace {

using key = inlay::narrow::key;
using keys_view = inlay::span<key const>;

constexpr std::size_t step_ids = 26 * 8192;

/// Of 212,992 such ids .334 are distinct.
std::vector<key> some_ids(std::size_t count) { return zipf_keys(count, 1'000'000, 1, 0.99); }

struct numbered {
  std::vector<key> unique;
  std::vector<std::uint32_t> numbers;
};

struct bits_hash {
  std::size_t operator()(key row) const noexcept { return hash(row); }
};

void by_unordered_map(std::vector<key> const& keys, numbered& result) {
  std::unordered_map<key, std::uint32_t, bits_hash> map;
  result.unique.clear();
  result.numbers.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto const [at, is_new] = map.try_emplace(keys[i], static_cast<std::uint32_t>(map.size()));
    result.numbers[i] = at->second;
    if (is_new) result.unique.push_back(keys[i]);
  }
}

void by_sort_unique(std::vector<key> const& keys, numbered& result) {
  result.unique = keys;
  std::sort(result.unique.begin(), result.unique.end());
  result.unique.erase(std::unique(result.unique.begin(), result.unique.end()), result.unique.end());
  result.numbers.resize(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    result.numbers[i] = static_cast<std::uint32_t>(
        std::lower_bound(result.unique.begin(), result.unique.end(), keys[i]) -
        result.unique.begin());
  }
}

template <class Body>
double best_seconds(Body const& body) {
  double best = 1e9;  // of processor time, which is what a counter is divided by
  for (int round = 0; round < 10; ++round) {
    auto const start = std::clock();
    body();
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
  }
  return best;
}

void report(benchmark::State& state, std::size_t ids, std::size_t unique) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(ids));
  state.counters["distinct"] = static_cast<double>(unique) / static_cast<double>(ids);
}

template <class Mapper>
void map(benchmark::State& state) {
  auto const ids = static_cast<std::size_t>(state.range(0));
  auto const keys = some_ids(ids);
  numbered plain;
  auto const opponent = best_seconds([&] { by_unordered_map(keys, plain); });
  inlay::host_exec const exec(1);
  typename Mapper::template workspace<key> work;
  inlay::id_plan<key> plan;
  for (auto _ : state) {
    Mapper{}.map(exec, keys_view(keys.data(), ids), work, plan);
    benchmark::DoNotOptimize(plan.occurrences.data());
  }
  report(state, ids, plan.size());
  state.counters["ratio"] = benchmark::Counter(static_cast<double>(state.iterations()) * opponent,
                                               benchmark::Counter::kIsRate);
}

template <void (*Number)(std::vector<key> const&, numbered&)>
void plain(benchmark::State& state) {
  auto const ids = static_cast<std::size_t>(state.range(0));
  auto const keys = some_ids(ids);
  numbered result;
  for (auto _ : state) {
    Number(keys, result);
    benchmark::DoNotOptimize(result.numbers.data());
  }
  report(state, ids, result.unique.size());
}

}  // namespace

BENCHMARK(map<inlay::hash_mapper>)->Name("vsid/map/hash")->ArgName("ids")->Arg(8192)->Arg(step_ids);
BENCHMARK(map<inlay::sort_mapper>)->Name("vsid/map/sort")->ArgName("ids")->Arg(step_ids);
BENCHMARK(plain<by_unordered_map>)
    ->Name("vsid/map/std_unordered_map")
    ->ArgName("ids")
    ->Arg(8192)
    ->Arg(step_ids);
BENCHMARK(plain<by_sort_unique>)->Name("vsid/map/std_sort_unique")->ArgName("ids")->Arg(step_ids);
