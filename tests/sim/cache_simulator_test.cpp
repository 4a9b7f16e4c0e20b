#include <inlay/sim/cache_simulator.hpp>

#include "sim/traces.hpp"

#include <inlay/cache/fifo.hpp>
#include <inlay/cache/lru.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/core/one_of.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <string>
#include <vector>

using inlay::access_trace;
using inlay::cache_simulator;
using inlay::lru;
using inlay::replayed;
using inlay::sieve;

namespace {

/// A cache as anybody would write it: a list, whose last key leaves.
enum class on_use { move_to_front, stay };

replayed plain_cache(std::vector<std::uint64_t> const& keys, std::size_t capacity, on_use hit) {
  std::list<std::uint64_t> cached;
  replayed result{.requests = keys.size(), .unique = keys.size()};
  for (auto const key : keys) {
    auto const at = std::find(cached.begin(), cached.end(), key);
    if (at != cached.end()) {
      ++result.hits;
      if (hit == on_use::move_to_front) cached.splice(cached.begin(), cached, at);
      continue;
    }
    ++result.misses;
    if (cached.size() == capacity) {
      cached.pop_back();
      ++result.evictions;
    }
    cached.push_front(key);
  }
  return result;
}

template <class Cache>
replayed simulate(Cache const& cache, std::size_t capacity, access_trace const& trace) {
  return cache_simulator{.cache = cache, .capacity = capacity}.replay(trace);
}

/// Notes all that it is told; gives slots up in turn.
struct listener {
  struct told {
    char what;
    inlay::way_id way;
    inlay::cache_access use;
  };
  std::vector<told>* heard = nullptr;

  struct slot_state {};
  struct set_state {
    inlay::way_id next = 0;
  };
  using slots = inlay::span<slot_state>;

  void reset(slots, set_state& set) const { set = {}; }
  void on_insert(slots, set_state&, inlay::way_id way, inlay::cache_access const& use) const {
    heard->push_back({'i', way, use});
  }
  void on_hit(slots, set_state&, inlay::way_id way, inlay::cache_access const& use) const {
    heard->push_back({'h', way, use});
  }
  void on_evict(slots s, set_state& set, inlay::way_id way) const {
    set.next = static_cast<inlay::way_id>((way + 1) % s.size());
    heard->push_back({'e', way, {}});
  }
  template <class Pinned>
  inlay::way_id victim(slots, set_state& set, inlay::cache_access const& use, Pinned const&) const {
    heard->push_back({'v', set.next, use});
    return set.next;
  }
};

std::string events(std::vector<listener::told> const& heard) {
  std::string text;
  for (auto const& one : heard) {
    text += one.what + std::to_string(one.way) + " ";
  }
  return text;
}

std::vector<std::int64_t> next_uses(std::vector<listener::told> const& heard) {
  std::vector<std::int64_t> uses;
  for (auto const& one : heard) {
    if (one.what == 'i' || one.what == 'h') uses.push_back(one.use.next_use);
  }
  return uses;
}

struct gives_up_nothing : lru {
  template <class Pinned>
  inlay::way_id victim(inlay::span<slot_state>, set_state&, inlay::cache_access const&,
                       Pinned const&) const {
    return inlay::no_way;
  }
};

}  // namespace

TEST_CASE("cache_simulator: lru and fifo have the golden hits of real traces") {
  for_each_golden_row([](golden_row const& row, access_trace const& trace) {
    auto const capacity = row.capacity;
    CHECK(simulate(lru{}, capacity, trace).hits == row.lru_hits);
    CHECK(simulate(inlay::fifo{}, capacity, trace).hits == row.fifo_hits);
  });
}

TEST_CASE("cache_simulator: equals a plain list under lru and fifo") {
  auto const seed = fresh_seed("cache_simulator");
  for (std::uint64_t round = 0; round < 20; ++round) {
    inlay::testing::trial with("the simulator", inlay::mix(seed, round));
    auto const rows = 1 + with.below(400);
    auto const keys = random_keys(with, with.below(3000), rows);
    auto const trace = trace_of(keys);
    for (std::size_t const capacity : {std::size_t{1}, 1 + with.below(rows), rows, 2 * rows}) {
      CAPTURE(round);
      CAPTURE(capacity);
      CHECK(simulate(lru{}, capacity, trace) == plain_cache(keys, capacity, on_use::move_to_front));
      CHECK(simulate(inlay::fifo{}, capacity, trace) == plain_cache(keys, capacity, on_use::stay));
    }
  }
}

TEST_CASE("cache_simulator: a policy chosen at run time has the hits of its type") {
  inlay::testing::trial with("the simulator", 3);
  auto const trace = trace_of(random_keys(with, 3000, 200));
  using either = inlay::one_of<lru, sieve>;
  CHECK(simulate(either(lru{}), 40, trace) == simulate(lru{}, 40, trace));
  CHECK(simulate(either(sieve{}), 40, trace) == simulate(sieve{}, 40, trace));
  CHECK(simulate(sieve{}, 40, trace) != simulate(lru{}, 40, trace));
}

TEST_CASE("cache_simulator: the policy is told of each request, its hash and its place") {
  std::vector<listener::told> heard;
  auto const trace = trace_of({10, 20, 10, 30, 20});
  auto const seen = simulate(listener{&heard}, 2, trace);
  CHECK(events(heard) == "i0 i1 h0 v0 e0 i0 h1 ");
  CHECK(seen == replayed{.requests = 5, .unique = 5, .hits = 2, .misses = 3, .evictions = 1});
  for (auto const& [what, way, use] : heard) {
    if (what == 'e') continue;
    auto const place = static_cast<std::size_t>(number(use.step));
    CHECK(use.hash == hash(trace.keys()[place]));
    CHECK(use.count == 1);
    CHECK(use.next_use == access_trace::never);
  }
}

TEST_CASE("cache_simulator: a window tells next uses, and none beyond it") {
  auto const never = access_trace::never;
  auto const trace = trace_of({10, 20, 10, 30, 40, 20, 10});
  auto const uses_within = [&](std::uint64_t window) {
    std::vector<listener::told> heard;
    (void)cache_simulator{.cache = listener{&heard}, .capacity = 2, .window = window}.replay(trace);
    return next_uses(heard);
  };
  auto const none = std::vector<std::int64_t>(7, never);
  CHECK(uses_within(0) == none);
  CHECK(uses_within(1) == none);
  CHECK(uses_within(2) == std::vector<std::int64_t>{2, never, never, never, never, never, never});
  CHECK(uses_within(4) == std::vector<std::int64_t>{2, 5, 6, never, never, never, never});
  CHECK(uses_within(~std::uint64_t{0} / 4) == uses_within(4));
  CHECK(uses_within(~std::uint64_t{0}) == uses_within(4));
}

TEST_CASE("cache_simulator: traces without a request, and of one") {
  CHECK(simulate(lru{}, 3, access_trace()) == replayed{});
  CHECK(simulate(sieve{}, 3, trace_of({})) == replayed{});
  CHECK(replayed{}.hit_rate() == 0.0);
  CHECK(replayed{}.miss_rate() == 0.0);
  for (std::size_t const capacity : {1U, 2U, 100U}) {
    CHECK(simulate(lru{}, capacity, trace_of({9})) ==
          replayed{.requests = 1, .unique = 1, .misses = 1});
  }
}

TEST_CASE("cache_simulator: a cache of one row hits what comes twice running") {
  auto const seen = simulate(lru{}, 1, trace_of({1, 1, 2, 1, 1, 1}));
  CHECK(seen == replayed{.requests = 6, .unique = 6, .hits = 3, .misses = 3, .evictions = 2});
  CHECK(seen.hit_rate() == 0.5);
  CHECK(seen.miss_rate() == 0.5);
}

TEST_CASE("cache_simulator: where all rows fit, each misses once, whatever room is left") {
  inlay::testing::trial with("the simulator", 5);
  auto const trace = trace_of(random_keys(with, 2000, 100));
  replayed const all{.requests = 2000,
                     .unique = 2000,
                     .hits = 2000 - trace.distinct(),
                     .misses = trace.distinct()};
  for (auto const capacity : {trace.distinct(), trace.distinct() + 1, ~std::size_t{0}}) {
    CHECK(simulate(lru{}, capacity, trace) == all);
    CHECK(simulate(sieve{}, capacity, trace) == all);
  }
}

TEST_CASE("cache_simulator: a cache without a row is an error") {
  CHECK(sentence_of([] { (void)simulate(lru{}, 0, trace_of({1})); }) ==
        "a cache needs at least one row");
  CHECK(sentence_of([] { (void)simulate(lru{}, 0, access_trace()); }) ==
        "a cache needs at least one row");
}

TEST_CASE("cache_simulator: a policy that gives up no slot is an error") {
  CHECK(sentence_of([] { (void)simulate(gives_up_nothing{}, 1, trace_of({1, 2})); }) ==
        "the cache policy found no victim, though no slot is pinned");
}
