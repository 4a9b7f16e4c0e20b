#include <inlay/cache/lfu.hpp>

#include "cache/one_at_a_time.hpp"
#include "cache/peer_hits.hpp"

#include <inlay/cache/policy_slots.hpp>
#include <inlay/testing/cache_policy_laws.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <utility>
#include <vector>

using inlay::lfu;

namespace {

/// LFU as anybody would write it: of the rows of the lowest count, the one that has had it longest.
class plain_lfu {
 public:
  plain_lfu(std::size_t capacity, std::uint64_t age_after)
      : capacity_(capacity), age_after_(age_after) {}

  bool use(std::uint64_t key) {
    auto const at = rows_.find(key);
    auto const is_hit = at != rows_.end();
    if (!is_hit && rows_.size() == capacity_) rows_.erase(lowest());
    if (age_after_ != 0 && ++uses_ == capacity_ * age_after_) halve();
    auto& row = rows_[key];
    row.count = std::min<std::uint64_t>(row.count + 1, lfu::counts - 1);
    row.since = ++now_;
    return is_hit;
  }

 private:
  struct entry {
    std::uint64_t count = 0;
    std::uint64_t since = 0;
  };

  [[nodiscard]] std::uint64_t lowest() const {
    auto const best =
        std::min_element(rows_.begin(), rows_.end(), [](auto const& a, auto const& b) {
          return a.second.count != b.second.count ? a.second.count < b.second.count
                                                  : a.second.since < b.second.since;
        });
    return best->first;
  }

  /// Of those whose counts become one, who had the lower is the older.
  void halve() {
    uses_ = 0;
    std::vector<std::pair<std::uint64_t, entry>> order(rows_.begin(), rows_.end());
    std::sort(order.begin(), order.end(), [](auto const& a, auto const& b) {
      return std::pair(a.second.count, a.second.since) < std::pair(b.second.count, b.second.since);
    });
    for (auto const& [key, row] : order) {
      rows_[key] = {row.count / 2, ++now_};
    }
  }

  std::size_t capacity_;
  std::uint64_t age_after_;
  std::uint64_t uses_ = 0;
  std::uint64_t now_ = 0;
  std::unordered_map<std::uint64_t, entry> rows_;
};

}  // namespace

TEST_CASE("lfu: keeps the laws of a cache policy, ageing or not") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    inlay::testing::check_cache_policy(lfu{}, seed);
    inlay::testing::check_cache_policy(lfu{.age_after = 0}, seed);
    inlay::testing::check_cache_policy(lfu{.age_after = 1}, seed);
  }
}

TEST_CASE("lfu: the least often used goes first, with the occurrences in a batch counted") {
  inlay::policy_slots<lfu> slots(lfu{}, 3);
  inlay::detail::nothing_pinned const none;
  slots.on_insert(0, {.count = 5});
  slots.on_insert(1, {.count = 1});
  slots.on_insert(2, {.count = 2});
  slots.on_hit(1, {.count = 3});
  for (inlay::way_id way : {2U, 1U, 0U}) {
    CHECK(slots.victim({}, none) == way);
    slots.on_evict(way);
  }
}

TEST_CASE("lfu: old favourites leave once their counts are halved often enough") {
  inlay::policy_slots<lfu> slots(lfu{.age_after = 2}, 2);
  inlay::detail::nothing_pinned const none;
  slots.on_insert(0, {.count = 40});
  slots.on_insert(1, {});
  int uses = 0;
  while (slots.victim({}, none) == 1) {
    slots.on_hit(1, {});
    ++uses;
  }
  CHECK(uses > 4);
  CHECK(uses < 40);
}

TEST_CASE(
    "lfu: where counts are halved in the middle of a plan, the rarest loose slot still goes") {
  inlay::policy_slots<lfu> slots(lfu{.age_after = 2}, 4);
  for (auto const& [way, count] : {std::pair{0U, 1U}, {1U, 2U}, {2U, 2U}, {3U, 30U}}) {
    slots.on_insert(way, {.count = count, .step = inlay::step_id{1}});
  }
  auto const pinned = [](inlay::way_id way) { return way == 0; };
  inlay::cache_access const use{.step = inlay::step_id{2}};
  CHECK(slots.victim(use, pinned) == 1);  // all of count 1 were found pinned
  slots.on_hit(3, use);
  slots.on_hit(3, use);
  slots.on_hit(3, use);
  slots.on_hit(3, use);  // halved: count 1 is now of those that had 2 and 3
  CHECK(slots.victim(use, pinned) == 1);
  slots.on_evict(1);
  CHECK(slots.victim(use, pinned) == 2);
}

TEST_CASE("lfu: equals a plain one, key by key") {
  for (std::uint32_t age_after : {0U, 1U, 3U}) {
    for (std::size_t capacity : {1U, 2U, 3U, 7U, 64U}) {
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        CAPTURE(age_after);
        CAPTURE(capacity);
        CAPTURE(seed);
        inlay::testing::trial with("lfu", seed);
        one_at_a_time<lfu> own({.age_after = age_after}, capacity);
        plain_lfu other(capacity, age_after);
        std::size_t apart = 0;
        for (int n = 0; n < 4000; ++n) {
          auto const key = with.skewed(3 * capacity + 2);
          apart += own.use(key) == other.use(key) ? 0U : 1U;
        }
        CHECK(apart == 0);
      }
    }
  }
}

TEST_CASE("lfu: without ageing it equals libCacheSim on real traces") {
  compare_with_peer(lfu{.age_after = 0}, &peer_hits::lfu,
                    [](std::size_t hits, std::size_t peer, std::size_t) { CHECK(hits == peer); });
}
