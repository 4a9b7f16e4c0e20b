#include <inlay/sim/recorded.hpp>

#include "sim/traces.hpp"

#include <inlay/cache/lru.hpp>
#include <inlay/sim/batch_simulator.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

inlay::key_log log_of(std::vector<std::vector<std::uint64_t>> const& steps) {
  inlay::key_log seen;
  for (auto const& step : steps) {
    std::vector<inlay::narrow::key> keys;
    for (auto const bits : step) {
      keys.push_back({bits});
    }
    seen.add({keys.data(), keys.size()});
  }
  return seen;
}

std::vector<std::uint64_t> bits_of(inlay::access_trace const& trace) {
  std::vector<std::uint64_t> bits;
  for (auto const key : trace.keys()) {
    bits.push_back(key.bits);
  }
  return bits;
}

std::vector<std::uint32_t> ends_of(inlay::access_trace const& trace) {
  return {trace.batch_ends().begin(), trace.batch_ends().end()};
}

}  // namespace

TEST_CASE("recorded: a log of keys becomes a trace with the ends of its steps") {
  auto const trace = inlay::recorded(log_of({{7, 9, 7}, {}, {0, ~std::uint64_t{0}}, {9}}));
  CHECK(bits_of(trace) == std::vector<std::uint64_t>{7, 9, 7, 0, ~std::uint64_t{0}, 9});
  CHECK(ends_of(trace) == std::vector<std::uint32_t>{3, 3, 5, 6});
  CHECK(trace.distinct() == 4);
}

TEST_CASE("recorded: the log stays as it is, and may be recorded again when it is longer") {
  auto seen = log_of({{1, 2}});
  CHECK(bits_of(inlay::recorded(seen)) == std::vector<std::uint64_t>{1, 2});
  seen.add(log_of({{3}}).keys());
  CHECK(bits_of(inlay::recorded(seen)) == std::vector<std::uint64_t>{1, 2, 3});
  CHECK(ends_of(inlay::recorded(seen)) == std::vector<std::uint32_t>{2, 3});
}

TEST_CASE("recorded: of nothing, nothing is replayed") {
  for (auto const& seen : {log_of({}), log_of({{}, {}})}) {
    auto const trace = inlay::recorded(seen);
    CHECK(trace.size() == 0);
    CHECK(inlay::batch_simulator{.cache = inlay::lru{}, .capacity = 3}.replay(
              inlay::host_exec(1), trace) == inlay::replayed{});
  }
}

TEST_CASE("recorded: replayed by its own batches, without their size being named") {
  auto const result = inlay::batch_simulator{.cache = inlay::lru{}, .capacity = 3}.replay(
      inlay::host_exec(1), inlay::recorded(log_of({{1, 2, 2}, {2, 3}, {1, 4}, {2}})));
  CHECK(result.requests == 8);
  CHECK(result.unique == 7);
  CHECK(result.hits == 2);  // 2 in the second step and 1 in the third; 4 takes the place of 2
  CHECK(result.evictions == 2);
}
