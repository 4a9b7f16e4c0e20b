#pragma once

#include "cache/one_at_a_time.hpp"
#include "golden_rows.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <string_view>

/// Hits that libCacheSim 0.3.5 counts on the real traces, every object of size one.
struct peer_hits {
  std::string_view trace;
  std::size_t capacity;
  std::size_t clock;
  std::size_t lfu;
  std::size_t sieve;
  std::size_t s3_fifo;
  std::size_t arc;
};

inline constexpr std::array<peer_hits, 15> all_peer_hits{{
    {"scarab_200k", 705, 49795, 42344, 59427, 63961, 59905},
    {"scarab_200k", 3529, 77268, 69873, 84185, 87597, 85579},
    {"scarab_200k", 7058, 89978, 84411, 93778, 97027, 96013},
    {"web12", 137, 38485, 20739, 38485, 39158, 38907},
    {"web12", 687, 58139, 45660, 60728, 61947, 59902},
    {"web12", 1375, 66121, 57514, 68565, 68949, 67757},
    {"corda", 904, 45234, 902, 902, 45234, 45194},
    {"corda", 4523, 45234, 4521, 4521, 45234, 45194},
    {"corda", 9046, 45234, 9044, 9044, 45234, 45194},
    {"sprite", 70, 21647, 7481, 25852, 28503, 25503},
    {"sprite", 353, 87557, 30883, 81112, 89858, 87619},
    {"sprite", 707, 115785, 60227, 109234, 115187, 114567},
    {"two_pools", 99, 23658, 46355, 47698, 44582, 46474},
    {"two_pools", 496, 51645, 51840, 51842, 51894, 51860},
    {"two_pools", 993, 54416, 54320, 54320, 54332, 54300},
}};

/// Calls check(hits, hits of the peer, accesses) for every trace and capacity.
template <inlay::cache_policy Policy, class Check>
void compare_with_peer(Policy policy, std::size_t peer_hits::* column, Check const& check) {
  for_each_golden_row([&](golden_row const& row, inlay::access_trace const& trace) {
    for (auto const& peer : all_peer_hits) {
      if (peer.trace != row.trace || peer.capacity != row.capacity) continue;
      check(hits_of(policy, row.capacity, trace), peer.*column, trace.size());
    }
  });
}

/// Ghosts as cells forget a little sooner than the papers' lists, so that some hits are lost.
inline void check_misses_within(double share, std::size_t hits, std::size_t peer,
                                std::size_t accesses) {
  auto const own = static_cast<double>(accesses - hits);
  CHECK(own <= (1.0 + share) * static_cast<double>(accesses - peer));
}
