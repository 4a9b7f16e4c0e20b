#include <inlay/sim/shards.hpp>

#include "sim/traces.hpp"

#include <inlay/cache/lru.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/sim/miss_ratio_curve.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

using inlay::access_trace;
using inlay::lru;
using inlay::shards;
using inlay::sieve;

namespace {

template <class Cache>
double exact(Cache const& cache, std::size_t capacity, access_trace const& trace) {
  return inlay::cache_simulator{cache, capacity}.replay(trace).miss_rate();
}

/// How far estimates are off, over capacities of 2 to 50 % of the rows and ten samples.
struct distance {
  double mean = 0.0;
  double worst = 0.0;
};

template <class Cache>
distance distance_of(access_trace const& trace, Cache const& cache, double rate) {
  distance result;
  int estimates = 0;
  for (std::size_t percent = 2; percent <= 50; percent += 6) {
    auto const capacity = trace.distinct() * percent / 100;
    auto const truth = exact(cache, capacity, trace);
    for (std::uint64_t seed = 1; seed <= 10; ++seed) {
      shards const sampled(trace, {.rate = rate, .seed = seed});
      auto const off = std::abs(sampled.miss_ratio(cache, capacity) - truth);
      result.mean += off;
      result.worst = std::max(result.worst, off);
      ++estimates;
    }
  }
  result.mean /= estimates;
  return result;
}

access_trace real_trace(std::string const& name) {
  auto const path = data_file("trace_" + name + ".u32");
  return path.empty() ? access_trace() : inlay::read_trace(path);
}

}  // namespace

TEST_CASE("shards: at rate one an estimate is the truth") {
  auto const seed = fresh_seed("shards");
  for (std::uint64_t round = 0; round < 10; ++round) {
    CAPTURE(round);
    inlay::testing::trial with("shards", inlay::mix(seed, round));
    auto const trace = trace_of(random_keys(with, 2000, 1 + with.below(300)));
    shards const all(trace, {.rate = 1.0, .seed = round});
    CHECK(all.sample().size() == trace.size());
    inlay::miss_ratio_curve const curve(trace);
    for (std::size_t capacity = 1; capacity <= trace.distinct() + 1; ++capacity) {
      CHECK(all.miss_ratio(lru{}, capacity) == curve.miss_ratio(capacity));
      CHECK(all.miss_ratio(sieve{}, capacity) == exact(sieve{}, capacity, trace));
    }
  }
}

TEST_CASE("shards: a sample has all requests of some rows, in their order") {
  inlay::testing::trial with("shards", 4);
  auto const keys = random_keys(with, 20'000, 5000);
  shards const sampled(trace_of(keys), {.rate = 0.2, .seed = 9});
  auto const sample = sampled.sample().keys();
  std::size_t at = 0;
  for (auto const key : keys) {
    auto const is_kept = std::any_of(sample.begin(), sample.end(),
                                     [&](auto const& kept) { return kept.bits == key; });
    if (is_kept) REQUIRE(sample[at++].bits == key);
  }
  CHECK(at == sample.size());
  CHECK(sampled.scaled(1000) == 200);
  CHECK(sampled.scaled(1) == 1);
  CHECK(sampled.scaled(~std::size_t{0}) > keys.size());
  CHECK(shards(trace_of(keys), {.rate = 0.2, .seed = 9}).sample().size() == sample.size());
  CHECK(shards(trace_of(keys), {.rate = 0.2, .seed = 8}).sample().size() != sample.size());
}

TEST_CASE("shards: estimates of real traces are as near as was measured") {
  // The mean over samples is what to expect of one; the worst is of few popular rows.
  struct bound {
    char const* name;
    double rate, lru_mean, lru_worst, sieve_mean, sieve_worst;
  };
  for (auto const& [name, rate, lru_mean, lru_worst, sieve_mean, sieve_worst] :
       {bound{"scarab_200k", 0.1, 0.01, 0.04, 0.01, 0.03},
        bound{"scarab_200k", 0.3, 0.005, 0.02, 0.005, 0.02},
        bound{"web12", 0.3, 0.01, 0.04, 0.01, 0.04}, bound{"sprite", 0.3, 0.02, 0.15, 0.02, 0.15},
        bound{"two_pools", 0.3, 0.015, 0.09, 0.01, 0.03}}) {
    auto const trace = real_trace(name);
    if (trace.size() == 0) return;
    CAPTURE(name);
    CAPTURE(rate);
    auto const of_lru = distance_of(trace, lru{}, rate);
    CHECK(of_lru.mean < lru_mean);
    CHECK(of_lru.worst < lru_worst);
    auto const of_sieve = distance_of(trace, sieve{}, rate);
    CHECK(of_sieve.mean < sieve_mean);
    CHECK(of_sieve.worst < sieve_worst);
  }
}

TEST_CASE("shards: uses in quick succession are nearer still in a sample, and sieve seems better") {
  auto const trace = real_trace("corda");
  if (trace.size() == 0) return;
  CHECK(distance_of(trace, lru{}, 0.1).worst < 0.02);
  CHECK(exact(sieve{}, 904, trace) > 0.99);
  CHECK(shards(trace, {.rate = 0.1}).miss_ratio(sieve{}, 904) < 0.7);
}

TEST_CASE("shards: samples of nothing, and rates that are none") {
  CHECK(shards(access_trace()).miss_ratio(lru{}, 5) == 0.0);
  CHECK(sentence_of([] { (void)shards(trace_of({1, 1, 1}), {.rate = 1e-9}); }) ==
        "no row is in the sample: raise its rate");
  for (double const rate : {0.0, -0.5, 1.5, std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(sentence_of([&] { (void)shards(trace_of({1}), {.rate = rate}); }) ==
          "the rate of a sample must be above 0 and at most 1");
  }
  CHECK(sentence_of([] { (void)shards(trace_of({1}), {.rate = 1.0}).miss_ratio(lru{}, 0); }) ==
        "a cache needs at least one row");
}
