#include <inlay/cache/fifo.hpp>

#include "cache/one_at_a_time.hpp"
#include "golden_rows.hpp"

#include <inlay/cache/policy_slots.hpp>
#include <inlay/testing/cache_policy_laws.hpp>

#include <doctest/doctest.h>

#include <cstdint>

using inlay::fifo;

TEST_CASE("fifo: keeps the laws of a cache policy") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    inlay::testing::check_cache_policy(fifo{}, seed);
  }
}

TEST_CASE("fifo: the first that came goes first, however often it was used") {
  inlay::policy_slots<fifo> slots(fifo{}, 3);
  inlay::detail::nothing_pinned const none;
  for (inlay::way_id way : {2U, 0U, 1U}) {
    slots.on_insert(way, {});
  }
  slots.on_hit(2, {});
  slots.on_hit(2, {});
  for (inlay::way_id way : {2U, 0U, 1U}) {
    CHECK(slots.victim({}, none) == way);
    slots.on_evict(way);
  }
  CHECK(slots.victim({}, none) == inlay::no_way);
}

TEST_CASE("fifo: equals the golden hits of real traces") {
  for_each_golden_row([](golden_row const& row, inlay::access_trace const& trace) {
    CHECK(hits_of(fifo{}, row.capacity, trace) == row.fifo_hits);
  });
}
