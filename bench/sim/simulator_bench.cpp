#include "zipf_keys.hpp"

#include <inlay/cache/arc.hpp>
#include <inlay/cache/clock.hpp>
#include <inlay/cache/fifo.hpp>
#include <inlay/cache/lfu.hpp>
#include <inlay/cache/lru.hpp>
#include <inlay/cache/s3_fifo.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/cache/w_tiny_lfu.hpp>
#include <inlay/sim/batch_simulator.hpp>
#include <inlay/sim/belady.hpp>
#include <inlay/sim/cache_simulator.hpp>
#include <inlay/sim/miss_ratio_curve.hpp>
#include <inlay/sim/read_trace.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

// What a simulation costs. Items are requests; `rows:` is the capacity. The traces are the real one
// of a recommendation service, where INLAY_DATA has it, and one of 4 million requests, Zipf 1.05
// over 10 million rows. One core.
//
// number: giving the keys their numbers, once for a trace. replay: all else, for one policy and
// capacity. policy: of that the policy alone, with the slots of hits and inserts written down
// beforehand; `calls` are those of on_hit, on_insert, victim and on_evict, a second. batch: replay
// in batches of 512 through an engine's parts. pinned: the same with four batches in flight, so
// large that they pin about nine tenths of the rows. belady, curve: the optimum, and
// LRU at all capacities at once.

namespace {

using inlay::access_trace;

access_trace zipf_trace() {
  auto const drawn = zipf_keys(4'000'000, 10'000'000);
  inlay::buffer<access_trace::key> keys(drawn.size());
  std::copy(drawn.begin(), drawn.end(), keys.begin());
  return access_trace(std::move(keys));
}

/// Where the real trace lies; empty without.
std::string scarab_path() {
  auto const* const folder = std::getenv("INLAY_DATA");
  auto path = std::string(folder != nullptr ? folder : "") + "/trace_scarab_200k.u32";
  return folder != nullptr && std::filesystem::exists(path) ? path : std::string();
}

access_trace const& scarab() {
  static auto const trace = inlay::read_trace(scarab_path());
  return trace;
}
access_trace const& zipf() {
  static auto const trace = zipf_trace();
  return trace;
}

using get_trace = access_trace const& (*)();

[[nodiscard]] double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

void count_requests(benchmark::State& state, access_trace const& trace) {
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(trace.size()));
}

std::size_t capacity_of(benchmark::State const& state) {
  return static_cast<std::size_t>(state.range(0));
}

void number_keys(benchmark::State& state, get_trace get) {
  auto const& trace = get();
  for (auto _ : state) {
    inlay::buffer<access_trace::key> keys(trace.size());
    std::copy(trace.keys().begin(), trace.keys().end(), keys.begin());
    benchmark::DoNotOptimize(access_trace(std::move(keys)).distinct());
  }
  count_requests(state, trace);
}

template <class Cache>
void replay(benchmark::State& state, get_trace get) {
  auto const& trace = get();
  inlay::replayed seen;
  for (auto _ : state) {
    seen = inlay::cache_simulator<Cache>{{}, capacity_of(state), 0}.replay(trace);
  }
  count_requests(state, trace);
  state.counters["hit_rate"] = seen.hit_rate();
}

template <class Cache>
void batched(benchmark::State& state, get_trace get) {
  auto const& trace = get();
  inlay::host_exec const exec(1);
  inlay::replayed seen;
  for (auto _ : state) {
    seen = inlay::batch_simulator<Cache>{{}, capacity_of(state), 512, 0}.replay(exec, trace);
  }
  count_requests(state, trace);
  state.counters["hit_rate"] = seen.hit_rate();
}

/// The most rows that so many requests in a row ever need, and in `mean` what they need as a rule.
std::size_t most_rows(access_trace const& trace, std::size_t requests, double& mean) {
  std::vector<std::size_t> seen(trace.distinct(), 0);
  std::size_t most = 0;
  std::size_t sum = 0;
  std::size_t windows = 0;
  for (std::size_t first = 0; first < trace.size(); first += requests) {
    std::size_t distinct = 0;
    ++windows;
    for (auto at = first; at < std::min(first + requests, trace.size()); ++at) {
      distinct += std::exchange(seen[trace.numbers()[at]], windows) != windows ? 1U : 0U;
    }
    most = std::max(most, distinct);
    sum += distinct;
  }
  mean = static_cast<double>(sum) / static_cast<double>(windows);
  return most;
}

/// `ratio`: the time with most rows pinned by batches in flight over that with one batch's rows
/// pinned, in a cache of the same size, turn by turn.
template <class Cache>
void pinned(benchmark::State& state, get_trace get) {
  constexpr std::size_t depth = 4;
  auto const& trace = get();
  inlay::host_exec const exec(1);
  double mean = 0.0;
  std::size_t batch = 16;
  while (20 * most_rows(trace, (depth + 1) * (batch + 16), mean) < 19 * capacity_of(state)) {
    batch += 16;
  }
  inlay::batch_simulator<Cache> const few{{}, capacity_of(state), batch, 0};
  inlay::batch_simulator<Cache> const many{{}, capacity_of(state), batch, depth};
  double in_few = 0.0;
  double in_many = 0.0;
  for (auto _ : state) {
    auto const start = seconds_now();
    benchmark::DoNotOptimize(many.replay(exec, trace).hits);
    auto const between = seconds_now();
    benchmark::DoNotOptimize(few.replay(exec, trace).hits);
    in_many += between - start;
    in_few += seconds_now() - between;
    state.SetIterationTime(between - start);
  }
  count_requests(state, trace);
  state.counters["batch"] = static_cast<double>(batch);
  state.counters["pinned"] = mean / static_cast<double>(capacity_of(state));
  state.counters["ratio"] = in_many / in_few;
}

enum class kind : std::uint8_t { hit, insert, replace };

struct operation {
  inlay::way_id slot;
  kind what;
};

/// A policy that writes down what it is told.
template <class Policy>
struct recording : Policy {
  using slot_state = typename Policy::slot_state;
  using set_state = typename Policy::set_state;
  using slots = inlay::span<slot_state>;

  std::vector<operation>* into = nullptr;

  void on_insert(slots s, set_state& set, inlay::way_id way, inlay::cache_access const& use) const {
    auto const evicted =
        !into->empty() && into->back().what == kind::replace && into->back().slot == inlay::no_way;
    if (evicted) into->back().slot = way;
    if (!evicted) into->push_back({way, kind::insert});
    Policy::on_insert(s, set, way, use);
  }
  void on_hit(slots s, set_state& set, inlay::way_id way, inlay::cache_access const& use) const {
    into->push_back({way, kind::hit});
    Policy::on_hit(s, set, way, use);
  }
  void on_evict(slots s, set_state& set, inlay::way_id way) const {
    into->push_back({inlay::no_way, kind::replace});
    Policy::on_evict(s, set, way);
  }
};

template <class Policy>
void policy_alone(benchmark::State& state, get_trace get) {
  auto const& trace = get();
  std::vector<operation> operations;
  recording<Policy> recorder;
  recorder.into = &operations;
  auto const seen =
      inlay::cache_simulator<recording<Policy>>{recorder, capacity_of(state), 0}.replay(trace);
  inlay::detail::nothing_pinned const none;
  std::uint64_t wrong = 0;
  for (auto _ : state) {
    inlay::policy_slots<Policy> slots(Policy{}, capacity_of(state));
    for (std::size_t at = 0; at < operations.size(); ++at) {
      auto const [slot, what] = operations[at];
      inlay::cache_access const use{.hash = hash(trace.keys()[at]),
                                    .step = inlay::step_id{static_cast<std::int64_t>(at)}};
      if (what == kind::hit) {
        slots.on_hit(slot, use);
        continue;
      }
      if (what == kind::replace) {
        auto const victim = slots.victim(use, none);
        wrong += victim != slot ? 1U : 0U;
        slots.on_evict(victim);
      }
      slots.on_insert(slot, use);
    }
    benchmark::ClobberMemory();
  }
  if (wrong > 0) state.SkipWithError("other victims than in the simulator");
  count_requests(state, trace);
  auto const calls = seen.requests + 2 * seen.evictions;
  state.counters["calls"] =
      benchmark::Counter(static_cast<double>(calls), benchmark::Counter::kIsIterationInvariantRate);
}

void optimum(benchmark::State& state, get_trace get) {
  auto const& trace = get();
  for (auto _ : state) {
    benchmark::DoNotOptimize(inlay::belady(trace, capacity_of(state)).hits);
  }
  count_requests(state, trace);
}

void curve(benchmark::State& state, get_trace get) {
  auto const& trace = get();
  for (auto _ : state) {
    benchmark::DoNotOptimize(inlay::miss_ratio_curve(trace).hits(1));
  }
  count_requests(state, trace);
}

using capacities = std::vector<std::int64_t>;

template <class Body>
benchmark::internal::Benchmark* add(std::string const& name, Body const& body, get_trace get) {
  return benchmark::RegisterBenchmark(name.c_str(), body, get)->Unit(benchmark::kMillisecond);
}

template <class... Policies>
void add_policies(std::string const& trace, get_trace get, capacities const& rows) {
  auto const add_one = [&](std::string const& what, std::string const& policy, auto const& body) {
    add("sim/" + what + "/" + policy + "/" + trace, body, get)
        ->ArgName("rows")
        ->ArgsProduct({rows});
  };
  (add_one("replay", Policies::name, replay<Policies>), ...);
  (add_one("policy", Policies::name, policy_alone<Policies>), ...);
  (add("sim/pinned/" + std::string(Policies::name) + "/" + trace, pinned<Policies>, get)
       ->ArgName("rows")
       ->Arg(rows.back())
       ->UseManualTime(),
   ...);
}

void add_trace(std::string const& name, get_trace get, capacities const& rows) {
  add("sim/number/" + name, number_keys, get);
  add("sim/curve/" + name, curve, get);
  add("sim/belady/" + name, optimum, get)->ArgName("rows")->ArgsProduct({rows});
  add("sim/batch/lru/" + name, batched<inlay::lru>, get)->ArgName("rows")->ArgsProduct({rows});
  add_policies<inlay::lru, inlay::fifo, inlay::clock, inlay::lfu, inlay::sieve, inlay::s3_fifo,
               inlay::arc, inlay::w_tiny_lfu>(name, get, rows);
}

// The real trace is there or not, which only a run can tell.
[[maybe_unused]] bool const added = [] {
  if (!scarab_path().empty()) add_trace("scarab", scarab, {7058, 705});
  add_trace("zipf", zipf, {100'000, 10'000});
  return true;
}();

}  // namespace
