#include <inlay/cache/s3_fifo.hpp>

#include "cache/one_at_a_time.hpp"
#include "cache/peer_hits.hpp"

#include <inlay/cache/policy_slots.hpp>
#include <inlay/testing/cache_policy_laws.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

using inlay::s3_fifo;

TEST_CASE("s3_fifo: keeps the laws of a cache policy") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    inlay::testing::check_cache_policy(s3_fifo{}, seed);
    inlay::testing::check_cache_policy(s3_fifo{.small_share = 0.9F, .promote_at = 1}, seed);
  }
}

TEST_CASE(
    "s3_fifo: a newcomer leaves before rows that came earlier, unless it is used twice more") {
  for (int uses = 0; uses < 4; ++uses) {
    CAPTURE(uses);
    one_at_a_time<s3_fifo> cache({}, 10);
    for (std::uint64_t key = 0; key < 10; ++key) {
      cache.use(key);
    }
    cache.use(100);  // the small queue has one place: 0 has left it
    for (int n = 0; n < uses; ++n) {
      CHECK(cache.use(100));
    }
    for (std::uint64_t key = 200; key < 203; ++key) {
      cache.use(key);
    }
    CHECK(cache.use(5));
    CHECK(cache.use(100) == (uses >= 2));
  }
}

TEST_CASE("s3_fifo: a row that comes back soon is let into the main queue") {
  one_at_a_time<s3_fifo> cache({}, 10);
  for (std::uint64_t key = 0; key < 11; ++key) {
    cache.use(key);
  }
  CHECK_FALSE(cache.use(0));  // a ghost
  for (std::uint64_t key = 200; key < 205; ++key) {
    cache.use(key);
  }
  CHECK(cache.use(0));
}

TEST_CASE("s3_fifo: misses at most 3 % more than libCacheSim on real traces") {
  compare_with_peer(s3_fifo{}, &peer_hits::s3_fifo,
                    [](std::size_t hits, std::size_t peer, std::size_t accesses) {
                      check_misses_within(0.03, hits, peer, accesses);
                    });
}
