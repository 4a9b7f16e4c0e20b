#include <inlay/cache/look_ahead.hpp>

#include "cache/one_at_a_time.hpp"

#include <inlay/cache/lru.hpp>
#include <inlay/cache/policy_slots.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/sim/access_trace.hpp>
#include <inlay/sim/belady.hpp>
#include <inlay/sim/cache_simulator.hpp>
#include <inlay/testing/cache_policy_laws.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <utility>

using inlay::look_ahead;

namespace {

inlay::access_trace some_trace(inlay::testing::trial& with, std::size_t requests,
                               std::size_t rows) {
  inlay::buffer<inlay::access_trace::key> keys(requests);
  for (auto& key : keys) {
    key = {with.skewed(rows)};
  }
  return inlay::access_trace(std::move(keys));
}

}  // namespace

TEST_CASE("look_ahead: keeps the laws of a cache policy") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    inlay::testing::check_cache_policy(look_ahead{}, seed);
  }
}

TEST_CASE("look_ahead: without a window it is LRU, key by key") {
  for (std::size_t capacity : {1U, 2U, 7U, 64U}) {
    CAPTURE(capacity);
    inlay::testing::trial with("look_ahead", capacity);
    one_at_a_time<look_ahead> own({}, capacity);
    one_at_a_time<inlay::lru> other({}, capacity);
    std::size_t apart = 0;
    for (int n = 0; n < 5000; ++n) {
      auto const key = with.skewed(3 * capacity + 2);
      apart += own.use(key) == other.use(key) ? 0U : 1U;
    }
    CHECK(apart == 0);
  }
}

TEST_CASE("look_ahead: with the whole trace in the window it is the optimum") {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    inlay::testing::trial with("look_ahead", seed);
    auto const trace = some_trace(with, 64, 2 + with.below(40));
    for (std::size_t capacity : {1U, 2U, 3U, 5U, 8U, 13U}) {
      CAPTURE(capacity);
      inlay::cache_simulator<look_ahead> const simulator{{}, capacity, 64};
      CHECK(simulator.replay(trace).hits == inlay::belady(trace, capacity).hits);
    }
  }
}

TEST_CASE("look_ahead: a longer window never costs hits by much, and a long one gains") {
  inlay::testing::trial with("look_ahead", 3);
  auto const trace = some_trace(with, 50'000, 400);
  std::uint64_t before = 0;
  for (std::size_t window : {0U, 8U, 32U, 64U}) {
    auto const hits = inlay::cache_simulator<look_ahead>{{}, 20, window}.replay(trace).hits;
    CHECK(static_cast<double>(hits) > 0.99 * static_cast<double>(before));
    before = hits;
  }
  CHECK(before > inlay::cache_simulator<inlay::lru>{{}, 20, 0}.replay(trace).hits);
}

TEST_CASE("look_ahead: a use that was foretold and does not come counts as a use then") {
  inlay::policy_slots<look_ahead> slots(look_ahead{}, 3);
  inlay::detail::nothing_pinned const none;
  slots.on_insert(0, {.step = inlay::step_id{1}, .next_use = 5});
  slots.on_insert(1, {.step = inlay::step_id{2}});
  slots.on_insert(2, {.step = inlay::step_id{3}, .next_use = 40});
  CHECK(slots.victim({.step = inlay::step_id{4}}, none) == 1);
  slots.on_hit(1, {.step = inlay::step_id{6}});
  CHECK(slots.victim({.step = inlay::step_id{7}}, none) == 0);
  CHECK(slots.victim({.step = inlay::step_id{1000}}, none) == 0);
  slots.on_evict(0);
  CHECK(slots.victim({.step = inlay::step_id{1001}}, none) == 1);
  slots.on_evict(1);
  CHECK(slots.victim({.step = inlay::step_id{1001}}, none) == 2);
}
