#include "zipf_keys.hpp"

#include <inlay/cache/arc.hpp>
#include <inlay/cache/cache_slots.hpp>
#include <inlay/cache/clock.hpp>
#include <inlay/cache/fifo.hpp>
#include <inlay/cache/lfu.hpp>
#include <inlay/cache/lru.hpp>
#include <inlay/cache/s3_fifo.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/cache/w_tiny_lfu.hpp>
#include <inlay/vsid/hash_mapper.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// What it costs that slots are pinned, for every policy, by the clock: the plan of a step of 8192 x
// 26 ids, Zipf 1.05 over 10 million, every step new, in a cache that just holds the largest of the
// steps, so that nearly all of its slots are pinned when the last victims are sought. `ratio` is
// its time over that in a cache ten times as large, turn by turn; the larger one also has more
// hits.

namespace {

using key = inlay::narrow::key;

constexpr std::size_t step_ids = std::size_t{8192} * 26;
constexpr std::size_t steps = 24;

[[nodiscard]] double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

struct planned_step {
  std::vector<key> unique;
  std::vector<std::uint32_t> counts;
};

std::vector<planned_step> const& all_steps() {
  static auto const all = [] {
    std::vector<planned_step> result;
    inlay::hash_mapper::workspace<key> work;
    inlay::id_plan<key> plan;
    for (std::uint64_t step = 0; step < steps; ++step) {
      auto const keys = zipf_keys(step_ids, 10'000'000, 300 + step);
      inlay::hash_mapper{}.map(inlay::host_exec(1), {keys.data(), keys.size()}, work, plan);
      result.push_back(
          {{plan.unique.begin(), plan.unique.end()}, {plan.counts.begin(), plan.counts.end()}});
    }
    return result;
  }();
  return all;
}

std::size_t largest_step() {
  std::size_t most = 0;
  for (auto const& step : all_steps()) {
    most = std::max(most, step.unique.size());
  }
  return most;
}

template <class Policy>
class cache_of_keys {
 public:
  explicit cache_of_keys(std::size_t capacity) : slots_(Policy{}, capacity) {}

  double plan(planned_step const& step) {
    auto const start = seconds_now();
    inlay::span<key const> const keys(step.unique.data(), step.unique.size());
    at_.resize(keys.size());
    slots_.find(exec_, keys, at_.view(), [](std::size_t, std::size_t) { inlay::fail("no room"); });
    slots_.release(slots_.place(exec_, keys, {step.counts.data(), step.counts.size()},
                                inlay::step_id{number_++}, at_.view()));
    return seconds_now() - start;
  }

 private:
  inlay::host_exec exec_{1};
  inlay::cache_slots<Policy, key> slots_;
  inlay::buffer<inlay::slot_id> at_;
  std::int64_t number_ = 0;
};

template <class Policy>
void smallest(benchmark::State& state) {
  cache_of_keys<Policy> small(largest_step());
  cache_of_keys<Policy> large(10 * largest_step());
  std::size_t number = 0;
  auto const next = [&]() -> planned_step const& { return all_steps()[number++ % steps]; };
  while (number < 2 * steps) {
    auto const& step = next();
    small.plan(step);
    large.plan(step);
  }
  double in_small = 0.0;
  double in_large = 0.0;
  for (auto _ : state) {
    auto const& step = next();
    auto const seconds = small.plan(step);
    in_small += seconds;
    in_large += large.plan(step);
    state.SetIterationTime(seconds);
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(step_ids));
  state.counters["ratio"] = in_small / in_large;
}

template <class... Policies>
bool add_all() {
  (benchmark::RegisterBenchmark((std::string("cache/smallest/") + Policies::name).c_str(),
                                smallest<Policies>)
       ->UseManualTime()
       ->Unit(benchmark::kMillisecond),
   ...);
  return true;
}

[[maybe_unused]] bool const added =
    add_all<inlay::fifo, inlay::lru, inlay::clock, inlay::lfu, inlay::sieve, inlay::s3_fifo,
            inlay::arc, inlay::w_tiny_lfu>();

}  // namespace
