#include <inlay/sim/miss_ratio_curve.hpp>

#include "sim/traces.hpp"

#include <inlay/cache/lru.hpp>
#include <inlay/sim/cache_simulator.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>

using inlay::access_trace;
using inlay::miss_ratio_curve;

namespace {

std::uint64_t lru_hits(access_trace const& trace, std::size_t capacity) {
  return inlay::cache_simulator{inlay::lru{}, capacity}.replay(trace).hits;
}

}  // namespace

TEST_CASE("miss_ratio_curve: equals the simulator of lru at every capacity") {
  auto const seed = fresh_seed("miss_ratio_curve");
  for (std::uint64_t round = 0; round < 20; ++round) {
    CAPTURE(round);
    inlay::testing::trial with("the curve", inlay::mix(seed, round));
    auto const trace = trace_of(random_keys(with, with.below(2000), 1 + with.below(200)));
    miss_ratio_curve const curve(trace);
    CHECK(curve.rows() == trace.distinct());
    CHECK(curve.requests() == trace.size());
    for (std::size_t capacity = 1; capacity <= trace.distinct() + 1; ++capacity) {
      REQUIRE(curve.hits(capacity) == lru_hits(trace, capacity));
    }
  }
}

TEST_CASE("miss_ratio_curve: has the golden hits of real traces, and the simulator's between") {
  for_each_golden_row([](golden_row const& row, access_trace const& trace) {
    miss_ratio_curve const curve(trace);
    auto const golden = row.capacity;
    CHECK(curve.hits(golden) == row.lru_hits);
    for (auto const capacity : {std::size_t{1}, golden - 1, golden + 1, trace.distinct() / 2,
                                trace.distinct() - 1, trace.distinct()}) {
      CHECK(curve.hits(capacity) == lru_hits(trace, capacity));
    }
  });
}

TEST_CASE("miss_ratio_curve: a cache without a row misses all, one of all rows each row once") {
  miss_ratio_curve const curve(trace_of({1, 2, 1, 1}));
  CHECK(curve.miss_ratio(0) == 1.0);
  CHECK(curve.miss_ratio(1) == 0.75);
  CHECK(curve.miss_ratio(2) == 0.5);
  CHECK(curve.miss_ratio(~std::size_t{0}) == 0.5);
  miss_ratio_curve const empty{access_trace()};
  CHECK(empty.rows() == 0);
  CHECK(empty.hits(5) == 0);
  CHECK(empty.miss_ratio(5) == 0.0);
}
