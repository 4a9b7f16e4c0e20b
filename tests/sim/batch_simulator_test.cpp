#include <inlay/sim/batch_simulator.hpp>

#include "engine/training.hpp"
#include "sim/traces.hpp"

#include <inlay/cache/fifo.hpp>
#include <inlay/cache/lru.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/sim/cache_simulator.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <set>
#include <string>
#include <utility>
#include <vector>

using inlay::access_trace;
using inlay::batch_simulator;
using inlay::host_exec;
using inlay::lru;
using inlay::replayed;
using inlay::sieve;

namespace {

/// The ids of some batches in the order in which an engine meets them: row by row.
access_trace trace_of_batches(inlay::shape const& shape, std::vector<inlay::batch> const& batches) {
  std::vector<std::uint64_t> keys;
  std::vector<std::uint32_t> ends;
  for (auto const& content : batches) {
    auto const view = content.view();
    for (std::size_t row = 0; row < view.rows; ++row) {
      for (std::size_t field = 0; field < view.fields; ++field) {
        auto const bag = view.bag(field, row);
        for (auto i = view.offsets[bag]; i < view.offsets[bag + 1]; ++i) {
          keys.push_back(inlay::narrow::pack(shape.field_tables[field], view.ids[i]).bits);
        }
      }
    }
    ends.push_back(static_cast<std::uint32_t>(keys.size()));
  }
  return trace_of(keys, ends);
}

/// Batches through LRU as anybody would write them: hits first, then misses in order of first
/// appearance; a key of a batch in flight counts as used when a search for a victim meets it.
replayed plain_batches(std::vector<std::uint64_t> const& keys, std::size_t capacity,
                       std::size_t batch, std::size_t depth) {
  std::list<std::uint64_t> cached;  // youngest first
  std::deque<std::set<std::uint64_t>> in_flight;
  replayed result;
  auto const is_pinned = [&](std::uint64_t key) {
    return std::any_of(in_flight.begin(), in_flight.end(),
                       [&](auto const& pins) { return pins.contains(key); });
  };
  for (std::size_t first = 0; first < keys.size(); first += batch) {
    auto const last = std::min(first + batch, keys.size());
    std::vector<std::uint64_t> unique;
    for (auto at = first; at < last; ++at) {
      if (std::find(unique.begin(), unique.end(), keys[at]) == unique.end()) {
        unique.push_back(keys[at]);
      }
    }
    std::vector<std::uint64_t> missed;
    in_flight.emplace_back();
    for (auto const key : unique) {
      auto const at = std::find(cached.begin(), cached.end(), key);
      if (at == cached.end()) {
        missed.push_back(key);
        continue;
      }
      cached.splice(cached.begin(), cached, at);
      in_flight.back().insert(key);
    }
    for (auto const key : missed) {
      if (cached.size() == capacity) {
        while (is_pinned(cached.back())) {
          cached.splice(cached.begin(), cached, std::prev(cached.end()));
        }
        cached.pop_back();
        ++result.evictions;
      }
      cached.push_front(key);
      in_flight.back().insert(key);
    }
    result.requests += last - first;
    result.unique += unique.size();
    result.misses += missed.size();
    result.hits += unique.size() - missed.size();
    if (in_flight.size() > depth) in_flight.pop_front();
  }
  return result;
}

template <class Cache>
void check_against_engine(Cache const& cache, std::uint64_t seed) {
  inlay::shape shape;
  shape.tables = {{.name = "user", .dim = 4}, {.name = "item", .dim = 4}};
  for (auto const table : {0, 1, 1}) {
    shape.field_tables.push_back(static_cast<inlay::table_id>(table));
  }
  auto const batches = toy::some_batches(30, 40, seed, 3);
  auto const trace = trace_of_batches(shape, batches);
  auto const smallest = toy::smallest_cache(shape, batches);
  for (auto const capacity : {smallest, smallest + 30, trace.distinct()}) {
    CAPTURE(capacity);
    shape.cache_rows = capacity;
    auto const trained =
        toy::train(shape, inlay::parts{.cache = cache}, batches, batches.size()).figures;
    auto const seen =
        batch_simulator{.cache = cache, .capacity = capacity}.replay(host_exec(1), trace);
    CHECK(seen == replayed{.requests = trained.ids,
                           .unique = trained.rows.unique,
                           .hits = trained.rows.hits,
                           .misses = trained.rows.misses,
                           .evictions = trained.rows.evictions});
    CHECK(seen.hits > 0);
    CHECK((seen.evictions > 0) == (capacity < trace.distinct()));
  }
}

}  // namespace

TEST_CASE("batch_simulator: has the hits, misses and evictions of an engine that trains") {
  auto const seed = fresh_seed("batch_simulator");
  check_against_engine(lru{}, seed);
  check_against_engine(sieve{}, seed);
  check_against_engine(inlay::fifo{}, seed);
}

TEST_CASE("batch_simulator: equals plain lists and sets, whatever is in flight") {
  auto const seed = fresh_seed("batch_simulator");
  for (std::uint64_t round = 0; round < 20; ++round) {
    inlay::testing::trial with("the simulator", inlay::mix(seed, round));
    auto const rows = 10 + with.below(300);
    auto const keys = random_keys(with, 2000, rows);
    auto const batch = 1 + with.below(20);
    for (std::size_t const depth : {0U, 1U, 3U}) {
      CAPTURE(round);
      CAPTURE(batch);
      CAPTURE(depth);
      auto const capacity = (depth + 1) * batch + with.below(rows);
      auto const seen =
          batch_simulator{.cache = lru{}, .capacity = capacity, .batch = batch, .depth = depth}
              .replay(host_exec(1), trace_of(keys));
      CHECK(seen == plain_batches(keys, capacity, batch, depth));
    }
  }
}

TEST_CASE("batch_simulator: batches of one equal the simulator of requests") {
  inlay::testing::trial with("the simulator", 7);
  auto const trace = trace_of(random_keys(with, 3000, 200));
  for (std::size_t const capacity : {1U, 7U, 64U, 300U}) {
    CAPTURE(capacity);
    auto const batched = [&](auto const& cache) {
      return batch_simulator{.cache = cache, .capacity = capacity, .batch = 1}.replay(host_exec(1),
                                                                                      trace);
    };
    CHECK(batched(lru{}) == inlay::cache_simulator{lru{}, capacity}.replay(trace));
    CHECK(batched(sieve{}) == inlay::cache_simulator{sieve{}, capacity}.replay(trace));
  }
}

TEST_CASE("batch_simulator: threads change nothing") {
  inlay::testing::trial with("the simulator", 8);
  auto const trace = trace_of(random_keys(with, 200'000, 90'000));
  batch_simulator const simulator{.cache = sieve{}, .capacity = 60'000, .batch = 50'000};
  CHECK(simulator.replay(host_exec(4), trace) == simulator.replay(host_exec(1), trace));
}

TEST_CASE("batch_simulator: batches may be empty, and the last one short") {
  auto const own = batch_simulator{.cache = lru{}, .capacity = 3}.replay(
      host_exec(1), trace_of({1, 1, 2, 1, 3}, {0, 3, 3, 5}));
  CHECK(own == replayed{.requests = 5, .unique = 4, .hits = 1, .misses = 3, .evictions = 0});
  CHECK(own.miss_rate() == 0.75);
  auto const sized = batch_simulator{.cache = lru{}, .capacity = 3, .batch = 2}.replay(
      host_exec(1), trace_of({1, 1, 2, 1, 3}, {5}));
  CHECK(sized == replayed{.requests = 5, .unique = 4, .hits = 1, .misses = 3, .evictions = 0});
  CHECK(batch_simulator{.cache = lru{}, .capacity = 3}.replay(host_exec(1), access_trace()) ==
        replayed{});
}

TEST_CASE("batch_simulator: what can't be done is an error in words") {
  host_exec const exec(1);
  CHECK(sentence_of([&] {
          (void)batch_simulator{.cache = lru{}, .capacity = 2}.replay(exec, trace_of({1}));
        }) == "nothing is known of the batches of this trace: name their size");
  CHECK(sentence_of([&] {
          (void)batch_simulator{.cache = lru{}, .capacity = 0, .batch = 1}.replay(exec,
                                                                                  trace_of({1}));
        }) == "a cache needs at least one row");
  batch_simulator const small{.cache = lru{}, .capacity = 4, .batch = 3, .depth = 1};
  CHECK(sentence_of([&] { (void)small.replay(exec, trace_of({1, 2, 3, 1, 4, 5})); }) ==
        "batch 1 of the trace needs 3 rows at once, and it can have 2 of 4: raise the capacity, or "
        "lower the batch or the depth");
}

TEST_CASE("batch_simulator: capacities and depths beyond all reason") {
  inlay::host_exec const exec(1);
  auto const trace = trace_of({1, 2, 3, 1});
  inlay::batch_simulator<inlay::lru> simulator{{}, std::size_t{1} << 60U, 2, 0};
  CHECK(simulator.replay(exec, trace).hits == 1);  // takes memory for three rows
  simulator.depth = ~std::size_t{0};
  CHECK(sentence_of([&] { (void)simulator.replay(exec, trace); }) ==
        "a simulation has at most 65,535 batches in flight");
  simulator = {{}, 0, 2, 0};
  CHECK(sentence_of([&] { (void)simulator.replay(exec, trace); }) ==
        "a cache needs at least one row");
}
