#include <inlay/cache/arc.hpp>

#include "cache/one_at_a_time.hpp"
#include "cache/peer_hits.hpp"

#include <inlay/cache/policy_slots.hpp>
#include <inlay/testing/cache_policy_laws.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

using inlay::arc;

TEST_CASE("arc: keeps the laws of a cache policy") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    inlay::testing::check_cache_policy(arc{}, seed);
  }
}

TEST_CASE("arc: rows used twice survive a scan of any length") {
  one_at_a_time<arc> cache({}, 10);
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t key = 0; key < 5; ++key) {
      cache.use(key);
    }
  }
  for (std::uint64_t key = 1000; key < 2000; ++key) {
    CHECK_FALSE(cache.use(key));
  }
  for (std::uint64_t key = 0; key < 5; ++key) {
    CHECK(cache.use(key));
  }
}

TEST_CASE("arc: ghosts of rows used once give such rows more slots") {
  // Rows come back when eight others have been here: twice as many as used-once rows have slots
  // to begin with, beside ten that were used twice.
  one_at_a_time<arc> cache({}, 14);
  for (int round = 0; round < 2; ++round) {
    for (std::uint64_t key = 0; key < 10; ++key) {
      cache.use(key);
    }
  }
  std::size_t hits = 0;
  for (std::uint64_t n = 0; n < 400; ++n) {
    cache.use(1000 + n);
    if (n >= 8) hits += cache.use(1000 + n - 8) ? 1U : 0U;
  }
  CHECK(hits > 300);
}

TEST_CASE("arc: misses at most 3 % more than libCacheSim on real traces") {
  compare_with_peer(arc{}, &peer_hits::arc,
                    [](std::size_t hits, std::size_t peer, std::size_t accesses) {
                      check_misses_within(0.03, hits, peer, accesses);
                    });
}
