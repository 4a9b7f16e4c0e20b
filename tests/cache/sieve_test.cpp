#include <inlay/cache/sieve.hpp>

#include "cache/one_at_a_time.hpp"
#include "cache/peer_hits.hpp"

#include <inlay/cache/policy_slots.hpp>
#include <inlay/testing/cache_policy_laws.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <unordered_map>
#include <vector>

using inlay::sieve;

namespace {

/// The pseudo code of the paper (Zhang et al., NSDI 2024, algorithm 1), word by word: T is a
/// doubly-linked queue, `prev` leads to the head, where newcomers go. A set of pinned keys is
/// added, which the hand passes by.
class paper_sieve {
 public:
  explicit paper_sieve(std::size_t capacity) : capacity_(capacity) {}

  [[nodiscard]] bool holds(std::uint64_t key) const { return objects_.contains(key); }

  bool use(std::uint64_t x, std::set<std::uint64_t> const& pinned = {}) {
    if (holds(x)) {
      objects_.at(x)->visited = true;
      return true;
    }
    if (objects_.size() == capacity_) {
      auto* o = hand_ == nullptr ? tail_ : hand_;
      while (pinned.contains(o->key) || o->visited) {
        if (!pinned.contains(o->key)) o->visited = false;
        o = o->prev == nullptr ? tail_ : o->prev;
      }
      hand_ = o->prev;
      discard(o);
    }
    insert(x);
    return false;
  }

 private:
  struct object {
    std::uint64_t key = 0;
    bool visited = false;
    object* prev = nullptr;
    object* next = nullptr;
  };

  void insert(std::uint64_t x) {
    auto fresh = std::make_unique<object>(object{.key = x, .next = head_});
    (head_ == nullptr ? tail_ : head_->prev) = fresh.get();
    head_ = fresh.get();
    objects_.emplace(x, std::move(fresh));
  }
  void discard(object* o) {
    (o->prev == nullptr ? head_ : o->prev->next) = o->next;
    (o->next == nullptr ? tail_ : o->next->prev) = o->prev;
    objects_.erase(o->key);
  }

  std::size_t capacity_;
  std::unordered_map<std::uint64_t, std::unique_ptr<object>> objects_;
  object* head_ = nullptr;
  object* tail_ = nullptr;
  object* hand_ = nullptr;
};

}  // namespace

TEST_CASE("sieve: keeps the laws of a cache policy") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    inlay::testing::check_cache_policy(sieve{}, seed);
  }
}

TEST_CASE("sieve: the oldest slot without a hit goes first, and the hand goes on from there") {
  inlay::policy_slots<sieve> slots(sieve{}, 4);
  inlay::detail::nothing_pinned const none;
  for (inlay::way_id way : {0U, 1U, 2U, 3U}) {
    slots.on_insert(way, {});
  }
  slots.on_hit(0, {});
  CHECK(slots.victim({}, none) == 1);  // the hand has cleared the bit of 0
  slots.on_evict(1);
  slots.on_insert(1, {});
  CHECK(slots.victim({}, none) == 2);
  slots.on_evict(2);
  slots.on_insert(2, {});
  slots.on_hit(3, {});
  CHECK(slots.victim({}, none) == 1);
}

TEST_CASE("sieve: equals the pseudo code of its paper, key by key") {
  for (std::size_t capacity : {1U, 2U, 3U, 7U, 64U, 300U}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      CAPTURE(capacity);
      CAPTURE(seed);
      inlay::testing::trial with("sieve", seed);
      one_at_a_time<sieve> cache(sieve{}, capacity);
      paper_sieve oracle(capacity);
      for (int n = 0; n < 4000; ++n) {
        auto const key = with.skewed(6 * capacity);
        REQUIRE(cache.use(key) == oracle.use(key));
      }
    }
  }
}

TEST_CASE("sieve: equals the pseudo code that passes by pinned keys") {
  for (std::size_t capacity : {2U, 3U, 7U, 64U}) {
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      CAPTURE(capacity);
      CAPTURE(seed);
      inlay::testing::trial with("sieve", seed);
      inlay::policy_slots<sieve> slots(sieve{}, capacity);
      paper_sieve oracle(capacity);
      std::vector<std::uint64_t> owners;
      std::set<std::uint64_t> pinned;
      for (int n = 0; n < 3000; ++n) {
        auto const key = with.skewed(3 * capacity);
        if (auto const at = std::find(owners.begin(), owners.end(), key); at != owners.end()) {
          slots.on_hit(static_cast<inlay::way_id>(at - owners.begin()), {});
          REQUIRE(oracle.use(key));
        } else if (owners.size() < capacity) {
          owners.push_back(key);
          slots.on_insert(static_cast<inlay::way_id>(owners.size() - 1), {});
          REQUIRE_FALSE(oracle.use(key));
        } else {
          auto const way =
              slots.victim({}, [&](inlay::way_id slot) { return pinned.contains(owners[slot]); });
          REQUIRE(way < capacity);
          slots.on_evict(way);
          slots.on_insert(way, {});
          REQUIRE_FALSE(oracle.use(key, pinned));
          REQUIRE_FALSE(oracle.holds(owners[way]));
          owners[way] = key;
        }
        if (with.chance(20)) pinned.insert(owners[with.below(owners.size())]);
        if (with.chance(10) || pinned.size() + 1 >= capacity) pinned.clear();
      }
    }
  }
}

TEST_CASE("sieve: equals libCacheSim on real traces") {
  compare_with_peer(sieve{}, &peer_hits::sieve,
                    [](std::size_t hits, std::size_t peer, std::size_t) { CHECK(hits == peer); });
}
