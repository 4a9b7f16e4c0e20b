#include "zipf_keys.hpp"

#include <inlay/cache/fully_associative.hpp>
#include <inlay/cache/lru.hpp>
#include <inlay/cache/policy_slots.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/table/host_rows.hpp>
#include <inlay/vsid/hash_mapper.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// touch: a policy alone, told of hits on Zipf slots and asked for a victim once in ten. bring:
// whole steps of 8,192 ids through a cache, with fetch and write-back; items are distinct rows,
// `hit_rate` counts those. One core.

namespace {

using key = inlay::narrow::key;
using store = inlay::host_rows<inlay::narrow, inlay::uniform>;

constexpr std::size_t step_ids = 8192;
constexpr std::uint32_t table_ids = 1'000'000;

template <class Policy>
void touch(benchmark::State& state) {
  auto const size = static_cast<std::uint32_t>(state.range(0));
  inlay::policy_slots<Policy> slots(Policy{}, size);
  for (inlay::way_id way = 0; way < size; ++way) {
    slots.on_insert(way, {});
  }
  constexpr std::size_t touches = std::size_t{1} << 16U;
  std::vector<inlay::way_id> hits;
  for (auto const row : zipf_keys(touches, size)) {
    hits.push_back(static_cast<inlay::way_id>(row.bits % size));
  }
  inlay::detail::nothing_pinned const none;
  for (auto _ : state) {
    for (std::size_t i = 0; i < touches; ++i) {
      if (i % 10 != 0) {
        slots.on_hit(hits[i], {});
        continue;
      }
      auto const way = slots.victim({}, none);
      slots.on_evict(way);
      slots.on_insert(way, {});
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(touches));
}

struct planned {
  std::vector<key> keys;
  std::vector<std::uint32_t> counts;
};

std::vector<planned> some_steps() {
  inlay::host_exec const exec(1);
  inlay::hash_mapper::workspace<key> work;
  inlay::id_plan<key> plan;
  std::vector<planned> result;
  for (std::size_t step = 0; step < 200; ++step) {
    auto const keys = zipf_keys(step_ids, table_ids, step);
    inlay::hash_mapper{}.map(exec, inlay::span<key const>(keys.data(), keys.size()), work, plan);
    result.push_back(
        {{plan.unique.begin(), plan.unique.end()}, {plan.counts.begin(), plan.counts.end()}});
  }
  return result;
}

template <class Policy>
void bring(benchmark::State& state) {
  auto const steps = some_steps();
  inlay::host_exec const exec(1);
  inlay::cached_rows<Policy, store> rows(
      Policy{}, static_cast<std::size_t>(state.range(0)),
      store(inlay::new_row<inlay::narrow, inlay::uniform>({}, 1, 16, {0.01F}, {0.0F})));
  inlay::row_refs refs;
  inlay::row_traffic traffic;
  auto const run = [&](planned const& step) {
    auto const result = rows.bring(exec, {step.keys.data(), step.keys.size()},
                                   {step.counts.data(), step.counts.size()}, {}, refs);
    rows.release(refs);
    return result;
  };
  for (auto const& step : steps) {
    run(step);  // the rows exist and the cache is full
  }
  std::size_t at = 0;
  for (auto _ : state) {
    traffic += run(steps[at++ % steps.size()]);
  }
  state.SetItemsProcessed(static_cast<std::int64_t>(traffic.unique));
  state.counters["hit_rate"] =
      static_cast<double>(traffic.hits) / static_cast<double>(traffic.unique);
}

}  // namespace

BENCHMARK(touch<inlay::lru>)->Name("cache/touch/lru")->ArgName("slots")->Arg(4096)->Arg(65'536);
BENCHMARK(touch<inlay::sieve>)->Name("cache/touch/sieve")->ArgName("slots")->Arg(4096)->Arg(65'536);
BENCHMARK(bring<inlay::lru>)->Name("cache/bring/lru")->ArgName("rows")->Arg(8192)->Arg(65'536);
BENCHMARK(bring<inlay::sieve>)->Name("cache/bring/sieve")->ArgName("rows")->Arg(8192)->Arg(65'536);
