#include <inlay/cache/cache_policy.hpp>

#include <inlay/cache/lru.hpp>
#include <inlay/cache/policy_slots.hpp>
#include <inlay/cache/s3_fifo.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/cache/w_tiny_lfu.hpp>
#include <inlay/core/error.hpp>
#include <inlay/testing/cache_policy_laws.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <string>

// Policies that break one law each, like mistakes that were made or are easily made: the laws must
// find them.

using inlay::cache_access;
using inlay::lru;
using inlay::no_way;
using inlay::sieve;
using inlay::span;
using inlay::way_id;

namespace {

template <class Policy>
void expect_found(char const* law) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    CHECK_THROWS_WITH_AS(inlay::testing::check_cache_policy(Policy{}, seed), doctest::Contains(law),
                         inlay::error);
  }
}

struct ignores_pins : lru {
  template <class Pinned>
  way_id victim(span<slot_state>, set_state& set, cache_access const&, Pinned const&) const {
    return set.queue.oldest;
  }
};

struct gives_up_early : lru {
  template <class Pinned>
  way_id victim(span<slot_state> slots, set_state& set, cache_access const&,
                Pinned const& pinned) const {
    for (int tries = 0; tries < 5 && set.queue.size > 0; ++tries) {
      if (!pinned(set.queue.oldest)) return set.queue.oldest;
      set.queue.make_young(slots, set.queue.oldest);
    }
    return no_way;
  }
};

struct one_round_only : sieve {
  template <class Pinned>
  way_id victim(span<slot_state> slots, set_state& set, cache_access const&,
                Pinned const& pinned) const {
    for (auto left = set.queue.size; left > 0; --left) {
      auto const way = set.hand == no_way ? set.queue.oldest : set.hand;
      if (!pinned(way) && !slots[way].visited) return set.hand = way;
      if (!pinned(way)) slots[way].visited = false;
      set.hand = slots[way].at.younger;
    }
    return no_way;
  }
};

struct restarts_at_the_tail : lru {
  template <class Pinned>
  way_id victim(span<slot_state> slots, set_state& set, cache_access const&,
                Pinned const& pinned) const {
    for (auto way = set.queue.oldest; way != no_way; way = slots[way].at.younger) {
      if (!pinned(way)) return way;
    }
    return no_way;
  }
};

struct hand_on_the_evicted : sieve {
  void on_evict(span<slot_state> slots, set_state& set, way_id way) const {
    set.queue.remove(slots, way);
  }
};

/// Never lists a row that came with a large count, so never gives it up.
struct loses_slots {
  struct slot_state {
    inlay::link at;
    bool listed = false;
  };
  using set_state = inlay::slot_list;

  void reset(span<slot_state>, set_state& queue) const { queue = {}; }
  void on_insert(span<slot_state> slots, set_state& queue, way_id way,
                 cache_access const& use) const {
    slots[way].listed = use.count <= 4;
    if (slots[way].listed) queue.push_young(slots, way);
  }
  void on_hit(span<slot_state> slots, set_state& queue, way_id way, cache_access const&) const {
    if (slots[way].listed) queue.make_young(slots, way);
  }
  void on_evict(span<slot_state> slots, set_state& queue, way_id way) const {
    if (slots[way].listed) queue.remove(slots, way);
  }
  template <class Pinned>
  way_id victim(span<slot_state> slots, set_state& queue, cache_access const&,
                Pinned const& pinned) const {
    for (auto left = queue.size; left > 0; --left) {
      if (!pinned(queue.oldest)) return queue.oldest;
      queue.make_young(slots, queue.oldest);
    }
    return no_way;
  }
};

struct moody : lru {
  template <class Pinned>
  way_id victim(span<slot_state> slots, set_state& set, cache_access const& use,
                Pinned const& pinned) const {
    static std::uint64_t calls = 0;
    if (++calls % 7 == 0) set.queue.make_young(slots, set.queue.oldest);
    return lru::victim(slots, set, use, pinned);
  }
};

}  // namespace

TEST_CASE("cache policy laws: a policy that breaks one is found, with the law") {
  expect_found<ignores_pins>("a victim is not pinned");
  expect_found<gives_up_early>("there is a victim unless every slot is pinned");
  expect_found<one_round_only>("there is a victim unless every slot is pinned");
  expect_found<restarts_at_the_tail>("a plan costs O(misses + slots)");
  expect_found<hand_on_the_evicted>("breaks a law");
  expect_found<loses_slots>("there is a victim unless every slot is pinned");
  expect_found<moody>("the same accesses give the same victims");
}

TEST_CASE("cache policy laws: the sentence names the size and the seed") {
  CHECK_THROWS_WITH_AS(inlay::testing::check_victims(ignores_pins{}, 7, 42),
                       doctest::Contains("with 7 slots breaks a law: a victim is not pinned (seed "
                                         "42)"),
                       inlay::error);
}

TEST_CASE("cache_policy: knobs without a meaning are refused in words") {
  auto const refused = [](auto const& policy) {
    try {
      inlay::policy_slots slots(policy, 8);
    } catch (inlay::error const& wrong) {
      return wrong.sentence().find("must be between 0 and 1") != std::string::npos;
    }
    return false;
  };
  constexpr auto nan = std::numeric_limits<float>::quiet_NaN();
  for (float const share : {-1.0F, 1.5F, nan}) {
    CAPTURE(share);
    CHECK(refused(inlay::s3_fifo{.small_share = share}));
    CHECK(refused(inlay::s3_fifo{.ghost_share = share}));
    CHECK(refused(inlay::w_tiny_lfu{.window_share = share}));
    CHECK(refused(inlay::w_tiny_lfu{.protected_share = share}));
  }
  CHECK_FALSE(refused(inlay::s3_fifo{.small_share = 0.0F, .ghost_share = 1.0F}));
  CHECK_FALSE(refused(inlay::w_tiny_lfu{.window_share = 1.0F, .protected_share = 0.0F}));
}

TEST_CASE("cache_policy: the laws hold at the ends of the knobs") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    inlay::testing::check_cache_policy(inlay::s3_fifo{.small_share = 0.0F, .ghost_share = 0.0F},
                                       seed);
    inlay::testing::check_cache_policy(inlay::s3_fifo{.small_share = 1.0F, .promote_at = 0}, seed);
    inlay::testing::check_cache_policy(inlay::w_tiny_lfu{.window_share = 0.0F}, seed);
    inlay::testing::check_cache_policy(
        inlay::w_tiny_lfu{.window_share = 1.0F, .protected_share = 1.0F}, seed);
  }
}
