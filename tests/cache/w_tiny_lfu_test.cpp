#include <inlay/cache/w_tiny_lfu.hpp>

#include "cache/one_at_a_time.hpp"
#include "golden_rows.hpp"

#include <inlay/cache/lru.hpp>
#include <inlay/cache/policy_slots.hpp>
#include <inlay/core/random.hpp>
#include <inlay/testing/cache_policy_laws.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>

using inlay::w_tiny_lfu;

TEST_CASE("w_tiny_lfu: keeps the laws of a cache policy") {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    inlay::testing::check_cache_policy(w_tiny_lfu{}, seed);
    inlay::testing::check_cache_policy(w_tiny_lfu{.window_share = 0.5F, .age_after = 1}, seed);
    inlay::testing::check_cache_policy(w_tiny_lfu{.protected_share = 0.0F, .age_after = 0}, seed);
  }
}

TEST_CASE("w_tiny_lfu: favourites survive a scan of any length") {
  one_at_a_time<w_tiny_lfu> cache({}, 100);
  for (int round = 0; round < 5; ++round) {
    for (std::uint64_t key = 0; key < 80; ++key) {
      cache.use(key);
    }
  }
  for (std::uint64_t key = 1000; key < 1300; ++key) {
    cache.use(key);
  }
  std::size_t hits = 0;
  for (std::uint64_t key = 0; key < 80; ++key) {
    hits += cache.use(key) ? 1U : 0U;
  }
  CHECK(hits > 75);
}

TEST_CASE("w_tiny_lfu: where ids come back soon and then never again, the window grows") {
  constexpr std::uint64_t longest = 40;
  one_at_a_time<w_tiny_lfu> cache({}, 100);
  std::size_t early = 0;
  std::size_t late = 0;
  for (std::uint64_t n = 0; n < 40'000; ++n) {
    cache.use(n);
    auto const hit = n >= longest && cache.use(n - inlay::mix(n) % longest);
    if (n < 2000) early += hit ? 1U : 0U;
    if (n >= 38'000) late += hit ? 1U : 0U;
  }
  CHECK(early < 1000);
  CHECK(late > 1600);
}

TEST_CASE("w_tiny_lfu: hits more than LRU on the traces of services") {
  for_each_golden_row([](golden_row const& row, inlay::access_trace const& trace) {
    if (row.trace == "scarab_200k" || row.trace == "web12") {
      CHECK(hits_of(w_tiny_lfu{}, row.capacity, trace) > row.lru_hits);
    }
  });
}
