#include <inlay/cache/clock.hpp>

#include "cache/one_at_a_time.hpp"
#include "cache/peer_hits.hpp"

#include <inlay/cache/policy_slots.hpp>
#include <inlay/testing/cache_policy_laws.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace {

/// The ring of the textbook: a hand over frames that never move.
class ring {
 public:
  explicit ring(std::size_t frames) : frames_(frames) {}

  bool use(std::uint64_t key) {
    if (auto const at = places_.find(key); at != places_.end()) {
      frames_[at->second].used = true;
      return true;
    }
    while (frames_[hand_].full && frames_[hand_].used) {
      frames_[hand_].used = false;
      hand_ = (hand_ + 1) % frames_.size();
    }
    if (frames_[hand_].full) places_.erase(frames_[hand_].key);
    frames_[hand_] = {key, true, false};
    places_[key] = hand_;
    hand_ = (hand_ + 1) % frames_.size();
    return false;
  }

 private:
  struct frame {
    std::uint64_t key = 0;
    bool full = false;
    bool used = false;
  };

  std::vector<frame> frames_;
  std::unordered_map<std::uint64_t, std::size_t> places_;
  std::size_t hand_ = 0;
};

}  // namespace

TEST_CASE("clock: keeps the laws of a cache policy") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    inlay::testing::check_cache_policy(inlay::clock{}, seed);
  }
}

TEST_CASE("clock: who was used since it was young gets a second chance, and only one") {
  inlay::policy_slots<inlay::clock> slots(inlay::clock{}, 3);
  inlay::detail::nothing_pinned const none;
  for (inlay::way_id way : {0U, 1U, 2U}) {
    slots.on_insert(way, {});
  }
  slots.on_hit(0, {});
  slots.on_hit(0, {});
  for (inlay::way_id way : {1U, 2U, 0U}) {
    CHECK(slots.victim({}, none) == way);
    slots.on_evict(way);
  }
}

TEST_CASE("clock: equals a ring with a hand, key by key") {
  for (std::size_t capacity : {1U, 2U, 3U, 7U, 64U, 300U}) {
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      CAPTURE(capacity);
      CAPTURE(seed);
      inlay::testing::trial with("clock", seed);
      one_at_a_time<inlay::clock> own({}, capacity);
      ring other(capacity);
      std::size_t apart = 0;
      for (int n = 0; n < 5000; ++n) {
        auto const key = with.skewed(3 * capacity + 2);
        apart += own.use(key) == other.use(key) ? 0U : 1U;
      }
      CHECK(apart == 0);
    }
  }
}

TEST_CASE("clock: equals libCacheSim on real traces") {
  compare_with_peer(inlay::clock{}, &peer_hits::clock,
                    [](std::size_t hits, std::size_t peer, std::size_t) { CHECK(hits == peer); });
}
