#include <inlay/sim/access_trace.hpp>

#include "sim/traces.hpp"

#include <inlay/core/error.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <map>
#include <vector>

using inlay::access_trace;

namespace {

template <class T>
std::vector<T> values(inlay::span<T const> view) {
  return {view.begin(), view.end()};
}

}  // namespace

TEST_CASE("access_trace: rows are numbered in order of first appearance") {
  auto const trace = trace_of({7, 9, 7, 0, ~std::uint64_t{0}, 9});
  CHECK(trace.size() == 6);
  CHECK(trace.distinct() == 4);
  CHECK(values(trace.numbers()) == std::vector<std::uint32_t>{0, 1, 0, 2, 3, 1});
  CHECK(trace.keys()[4].bits == ~std::uint64_t{0});
  CHECK(trace.batch_ends().empty());
}

TEST_CASE("access_trace: the next use of a row is where it comes again, or never") {
  auto const never = access_trace::never;
  auto const next = trace_of({7, 9, 7, 0, 7, 9}).next_uses();
  CHECK(values(next.view()) == std::vector<std::int64_t>{2, 5, 4, never, never, never});
}

TEST_CASE("access_trace: an empty one has no row, and one of a request has one") {
  CHECK(access_trace().size() == 0);
  CHECK(access_trace().distinct() == 0);
  CHECK(access_trace().next_uses().empty());
  CHECK(trace_of({}).distinct() == 0);
  CHECK(trace_of({5}).distinct() == 1);
  CHECK(trace_of({5}).next_uses()[0] == access_trace::never);
}

TEST_CASE("access_trace: numbers and next uses equal a map's") {
  inlay::testing::trial with("the trace", fresh_seed("access_trace"));
  auto const keys = random_keys(with, 5000, 700);
  auto const trace = trace_of(keys);
  std::map<std::uint64_t, std::uint32_t> numbers;
  std::map<std::uint64_t, std::int64_t> coming;
  auto const next = trace.next_uses();
  for (std::size_t at = 0; at < keys.size(); ++at) {
    auto const size = static_cast<std::uint32_t>(numbers.size());
    REQUIRE(trace.numbers()[at] == numbers.try_emplace(keys[at], size).first->second);
  }
  CHECK(trace.distinct() == numbers.size());
  for (auto at = keys.size(); at-- > 0;) {
    auto const known = coming.find(keys[at]);
    REQUIRE(next[at] == (known == coming.end() ? access_trace::never : known->second));
    coming[keys[at]] = static_cast<std::int64_t>(at);
  }
}

TEST_CASE("access_trace: batches end in order, and the last one with the trace") {
  CHECK(values(trace_of({1, 2, 3}, {2, 2, 3}).batch_ends()) == std::vector<std::uint32_t>{2, 2, 3});
  CHECK(sentence_of([] { (void)trace_of({1, 2, 3}, {2, 1, 3}); }) ==
        "the ends of a trace's batches must ascend");
  CHECK(sentence_of([] { (void)trace_of({1, 2, 3}, {1, 2}); }) ==
        "the last batch of a trace must end where the trace does");
}
