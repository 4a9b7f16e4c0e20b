#include "zipf_keys.hpp"

#include <inlay/cache/cache_slots.hpp>
#include <inlay/cache/lru.hpp>
#include <inlay/cache/one_set.hpp>
#include <inlay/cache/set_overflow.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/cache/way_sets.hpp>
#include <inlay/vsid/hash_mapper.hpp>

#include <benchmark/benchmark.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <utility>
#include <vector>

// The plan of a large step, none of its rows: 65,536 samples of 26 ids, Zipf 1.05 over 33.8
// million, on a cache that is full; every step is new. Items are ids, by processor time (of all
// threads). Per id: `dedup_ns` numbers the ids and makes the transpose for backward, `transpose_ns`
// is the latter alone, made once more outside of the time; `find_ns` looks their slots up,
// `place_ns` tells the policy of hits, chooses victims and brings the index up to date. `distinct`
// is of ids, `hit_rate` and `spilled` of those.

namespace {

using key = inlay::narrow::key;

constexpr std::size_t step_ids = std::size_t{65536} * 26;
constexpr std::uint32_t table_ids = 33'800'000;
constexpr std::size_t warm_steps = 4;
constexpr std::size_t timed_steps = 20;

std::vector<key> key_of_each_rank(std::size_t first, std::size_t count) {
  std::vector<key> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    keys[i] = inlay::narrow::pack(inlay::table_id{0}, inlay::mix(first + i + 1) >> 16U);
  }
  return keys;
}

std::vector<std::vector<key>> const& some_steps() {
  static auto const steps = [] {
    std::vector<std::vector<key>> result;
    for (std::uint64_t step = 0; step < warm_steps + timed_steps; ++step) {
      result.push_back(zipf_keys(step_ids, table_ids, 100 + step));
    }
    return result;
  }();
  return steps;
}

template <class Slots>
void place(Slots& slots, inlay::host_exec const& exec, inlay::span<key const> keys,
           inlay::span<std::uint32_t const> counts, inlay::buffer<inlay::slot_id>& at) {
  at.resize(keys.size());
  slots.find(exec, keys, at.view(), [](auto...) { inlay::fail("no room"); });
  slots.release(slots.place(exec, keys, counts, {}, at.view()));
}

/// The ranks that are drawn most often, the rarest of them first.
template <class Slots>
void fill(Slots& slots, inlay::host_exec const& exec) {
  constexpr std::size_t rows = std::size_t{1} << 18U;
  std::vector<std::uint32_t> const counts(rows, 1);
  inlay::buffer<inlay::slot_id> at;
  for (auto left = slots.capacity(); left > 0;) {
    auto const count = std::min(rows, left);
    left -= count;
    auto const keys = key_of_each_rank(left, count);
    place(slots, exec, {keys.data(), count}, {counts.data(), count}, at);
  }
}

[[nodiscard]] double seconds_now() {
  std::timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

inlay::one_set sets_of(std::size_t slots, inlay::one_set const*) { return slots; }
template <std::uint32_t Ways>
inlay::way_sets<key, Ways> sets_of(std::size_t slots, inlay::way_sets<key, Ways> const*) {
  return {slots, inlay::set_overflow::spill};
}

template <class Policy, class Sets = inlay::one_set>
void plan(benchmark::State& state) {
  inlay::host_exec const exec(static_cast<std::size_t>(state.range(1)));
  Sets const* const kind = nullptr;
  inlay::cache_slots<Policy, key, Sets> slots(
      Policy{}, sets_of(static_cast<std::size_t>(state.range(0)), kind));
  fill(slots, exec);
  auto const& steps = some_steps();
  inlay::hash_mapper::workspace<key> work;
  inlay::id_plan<key> ids;
  inlay::buffer<inlay::slot_id> at;
  std::array<double, 3> seconds{};
  std::size_t number = 0;
  std::size_t distinct = 0;
  std::size_t misses = 0;
  std::size_t spilled = 0;
  auto const run = [&] {
    auto const& keys = steps[number++];
    std::array<double, 4> times{seconds_now()};
    inlay::hash_mapper{}.map(exec, inlay::span<key const>(keys.data(), keys.size()), work, ids);
    times[1] = seconds_now();
    at.resize(ids.size());
    auto const unique = std::as_const(ids.unique).view();
    slots.find(exec, unique, at.view(), [](auto...) { inlay::fail("no room"); });
    times[2] = seconds_now();
    slots.release(slots.place(exec, unique, std::as_const(ids.counts).view(), {}, at.view()));
    times[3] = seconds_now();
    for (std::size_t stage = 0; stage < seconds.size(); ++stage) {
      seconds[stage] += times[stage + 1] - times[stage];
    }
    distinct += ids.size();
    misses += slots.missed().size();
    spilled += slots.missed().size() - slots.placed();
  };
  for (std::size_t warm = 0; warm < warm_steps; ++warm) {
    run();
  }
  seconds.fill(0.0);
  distinct = misses = spilled = 0;
  double transposing = 0.0;
  for (auto _ : state) {
    run();
    state.PauseTiming();
    auto const start = seconds_now();
    transpose(ids);
    transposing += seconds_now() - start;
    state.ResumeTiming();
  }
  auto const all = static_cast<double>(state.iterations()) * static_cast<double>(step_ids);
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(step_ids));
  state.counters["dedup_ns"] = 1e9 * seconds[0] / all;
  state.counters["find_ns"] = 1e9 * seconds[1] / all;
  state.counters["place_ns"] = 1e9 * seconds[2] / all;
  state.counters["transpose_ns"] = 1e9 * transposing / all;
  state.counters["distinct"] = static_cast<double>(distinct) / all;
  state.counters["hit_rate"] = 1.0 - static_cast<double>(misses) / static_cast<double>(distinct);
  state.counters["spilled"] = static_cast<double>(spilled) / static_cast<double>(distinct);
}

void sizes(benchmark::internal::Benchmark* each) {
  each->ArgNames({"slots", "threads"})
      ->ArgsProduct({{1'000'000, 10'000'000}, {1, 2}})
      ->MeasureProcessCPUTime()
      ->UseRealTime()
      ->Iterations(timed_steps)
      ->Unit(benchmark::kMillisecond);
}

}  // namespace

BENCHMARK(plan<inlay::lru>)->Name("cache/plan/lru")->Apply(sizes);
BENCHMARK(plan<inlay::sieve>)->Name("cache/plan/sieve")->Apply(sizes);
BENCHMARK(plan<inlay::lru, inlay::way_sets<key, 16>>)->Name("cache/plan/lru/ways:16")->Apply(sizes);
BENCHMARK(plan<inlay::lru, inlay::way_sets<key, 64>>)->Name("cache/plan/lru/ways:64")->Apply(sizes);
