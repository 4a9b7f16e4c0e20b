#include <inlay/cache/lru.hpp>

#include "cache/one_at_a_time.hpp"
#include "golden_rows.hpp"

#include <inlay/cache/policy_slots.hpp>
#include <inlay/testing/cache_policy_laws.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <list>
#include <vector>

using inlay::lru;

namespace {

/// LRU as anybody would write it.
class plain_lru {
 public:
  explicit plain_lru(std::size_t capacity) : capacity_(capacity) {}

  bool use(std::uint64_t key) {
    auto const at = std::find(keys_.begin(), keys_.end(), key);
    bool const hit = at != keys_.end();
    if (hit) keys_.erase(at);
    if (keys_.size() == capacity_) keys_.pop_back();
    keys_.push_front(key);
    return hit;
  }

 private:
  std::size_t capacity_;
  std::list<std::uint64_t> keys_;  // youngest first
};

}  // namespace

TEST_CASE("lru: keeps the laws of a cache policy") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    inlay::testing::check_cache_policy(lru{}, seed);
  }
}

TEST_CASE("lru: the least recently used slot goes first") {
  inlay::policy_slots<lru> slots(lru{}, 3);
  inlay::detail::nothing_pinned const none;
  for (inlay::way_id way : {0U, 1U, 2U}) {
    slots.on_insert(way, {});
  }
  slots.on_hit(0, {});
  CHECK(slots.victim({}, none) == 1);
  slots.on_hit(1, {});
  CHECK(slots.victim({}, none) == 2);
}

TEST_CASE("lru: a pinned slot that the victim scan meets counts as used now") {
  inlay::policy_slots<lru> slots(lru{}, 4);
  for (inlay::way_id way : {0U, 1U, 2U, 3U}) {
    slots.on_insert(way, {});
  }
  CHECK(slots.victim({}, [](inlay::way_id way) { return way < 2; }) == 2);
  slots.on_evict(2);
  std::vector<inlay::way_id> order;
  inlay::detail::nothing_pinned const none;
  for (int i = 0; i < 3; ++i) {
    order.push_back(slots.victim({}, none));
    slots.on_evict(order.back());
  }
  CHECK(order == std::vector<inlay::way_id>{3, 0, 1});
}

TEST_CASE("lru: equals a plain list, key by key") {
  for (std::size_t capacity : {1U, 2U, 3U, 7U, 64U, 300U}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      CAPTURE(capacity);
      CAPTURE(seed);
      inlay::testing::trial with("lru", seed);
      one_at_a_time<lru> cache(lru{}, capacity);
      plain_lru oracle(capacity);
      for (int n = 0; n < 4000; ++n) {
        auto const key = with.skewed(6 * capacity);
        REQUIRE(cache.use(key) == oracle.use(key));
      }
    }
  }
}

TEST_CASE("lru: equals the golden hits of real traces") {
  for_each_golden_row([](golden_row const& row, inlay::access_trace const& trace) {
    CHECK(hits_of(lru{}, row.capacity, trace) == row.lru_hits);
  });
}
