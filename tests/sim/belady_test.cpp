#include <inlay/sim/belady.hpp>

#include "sim/traces.hpp"

#include <inlay/cache/lru.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/sim/cache_simulator.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

using inlay::access_trace;
using inlay::belady;
using inlay::cache_simulator;
using inlay::replayed;

namespace {

/// The same by looking for the next use of every cached key at every miss.
std::uint64_t plain_hits(std::vector<std::uint64_t> const& keys, std::size_t capacity) {
  std::set<std::uint64_t> cached;
  std::uint64_t hits = 0;
  for (auto now = keys.begin(); now != keys.end(); ++now) {
    if (cached.contains(*now)) {
      ++hits;
      continue;
    }
    if (cached.size() == capacity) {
      cached.erase(*std::max_element(cached.begin(), cached.end(), [&](auto left, auto right) {
        return std::find(now, keys.end(), left) < std::find(now, keys.end(), right);
      }));
    }
    cached.insert(*now);
  }
  return hits;
}

/// The most hits of all victims that could be chosen.
std::uint64_t most_hits(std::vector<std::uint64_t> const& keys, std::size_t at,
                        std::set<std::uint64_t> const& cached, std::size_t capacity) {
  if (at == keys.size()) return 0;
  if (cached.contains(keys[at])) return 1 + most_hits(keys, at + 1, cached, capacity);
  auto next = cached;
  next.insert(keys[at]);
  if (cached.size() < capacity) return most_hits(keys, at + 1, next, capacity);
  std::uint64_t most = 0;
  for (auto const victim : cached) {
    next.erase(victim);
    most = std::max(most, most_hits(keys, at + 1, next, capacity));
    next.insert(victim);
  }
  return most;
}

}  // namespace

TEST_CASE("belady: has the golden hits of real traces") {
  for_each_golden_row([](golden_row const& row, access_trace const& trace) {
    CHECK(belady(trace, row.capacity).hits == row.belady_hits);
  });
}

TEST_CASE("belady: no choice of victims has more hits") {
  auto const seed = fresh_seed("belady");
  for (std::uint64_t round = 0; round < 60; ++round) {
    CAPTURE(round);
    inlay::testing::trial with("belady", inlay::mix(seed, round));
    auto const keys = random_keys(with, 14, 7);
    for (std::size_t const capacity : {1U, 2U, 3U, 4U}) {
      CHECK(belady(trace_of(keys), capacity).hits == most_hits(keys, 0, {}, capacity));
    }
  }
}

TEST_CASE("belady: equals a search for next uses, and beats lru and sieve") {
  auto const seed = fresh_seed("belady");
  for (std::uint64_t round = 0; round < 10; ++round) {
    CAPTURE(round);
    inlay::testing::trial with("belady", inlay::mix(seed, round));
    auto const rows = 2 + with.below(60);
    auto const keys = random_keys(with, 1500, rows);
    auto const trace = trace_of(keys);
    auto const capacity = 1 + with.below(rows);
    auto const best = belady(trace, capacity);
    CHECK(best.hits == plain_hits(keys, capacity));
    CHECK(best.hits + best.misses == best.requests);
    CHECK(best.misses - best.evictions == std::min(capacity, trace.distinct()));
    CHECK(best.hits >= cache_simulator{inlay::lru{}, capacity}.replay(trace).hits);
    CHECK(best.hits >= cache_simulator{inlay::sieve{}, capacity}.replay(trace).hits);
  }
}

TEST_CASE("belady: traces without a request, of one, and that fit") {
  CHECK(belady(access_trace(), 3) == replayed{});
  CHECK(belady(trace_of({9}), 1) == replayed{.requests = 1, .unique = 1, .misses = 1});
  CHECK(belady(trace_of({1, 2, 1, 2}), ~std::size_t{0}) ==
        replayed{.requests = 4, .unique = 4, .hits = 2, .misses = 2});
  CHECK(sentence_of([] { (void)belady(trace_of({1}), 0); }) == "a cache needs at least one row");
}
