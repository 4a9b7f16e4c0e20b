#include <inlay/vsid/hash_mapper.hpp>

#include "sanitized.hpp"

#include <inlay/core/error.hpp>
#include <inlay/testing/mapper_laws.hpp>
#include <inlay/vsid/shared_numbering.hpp>
#include <inlay/vsid/sort_mapper.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

using inlay::hash_mapper;
using inlay::host_exec;
using inlay::id_plan;
using inlay::narrow;
using inlay::sort_mapper;
using inlay::span;

namespace {

bool equal(auto const& left, auto const& right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end());
}

/// Numbers by order of keys instead of first appearance: what the laws must find.
struct sorted_numbers {
  template <class Key>
  using workspace = sort_mapper::workspace<Key>;

  template <class Key>
  void map(host_exec const& exec, span<Key const> keys, workspace<Key>& work,
           id_plan<Key>& plan) const {
    std::vector<Key> sorted(keys.begin(), keys.end());
    std::sort(sorted.begin(), sorted.end());
    sort_mapper{}.map(exec, span<Key const>(sorted.data(), sorted.size()), work, plan);
  }
};

/// Leaves out the last occurrence.
struct forgetful {
  template <class Key>
  using workspace = hash_mapper::workspace<Key>;

  template <class Key>
  void map(host_exec const& exec, span<Key const> keys, workspace<Key>& work,
           id_plan<Key>& plan) const {
    hash_mapper{}.map(exec, keys, work, plan);
    if (plan.size() > 5) --plan.counts[plan.size() - 1];
  }
};

}  // namespace

TEST_CASE("hash_mapper: many threads give the plan of one, whatever the keys") {
  std::vector<host_exec> const execs{host_exec(1), host_exec(2), host_exec(3), host_exec(7)};
  std::vector<inlay::shared_numbering<narrow::key>> shared(execs.size());
  hash_mapper::workspace<narrow::key> own;
  id_plan<narrow::key> one;
  id_plan<narrow::key> many;
  inlay::testing::trial with("the mapper", 3);
  for (std::size_t round = 0; round < 16; ++round) {
    auto const count = round < 4 ? round : with.skewed(200'000);
    // One id again and again, all distinct, and what lies between.
    auto const ids = round == 4 ? 1 : round == 5 ? std::size_t{1} << 40U : 1 + with.skewed(300'000);
    auto const keys = inlay::testing::some_keys<narrow>(with, count, 1 + with.below(4), ids);
    auto const view = span<narrow::key const>(keys.data(), keys.size());
    hash_mapper{}.map(host_exec(1), view, own, one);
    for (std::size_t e = 0; e < execs.size(); ++e) {
      shared[e].map(execs[e], view, many);
      CAPTURE(round);
      CAPTURE(execs[e].threads());
      CHECK(equal(one.unique, many.unique));
      CHECK(equal(one.virtual_ids, many.virtual_ids));
      CHECK(equal(one.counts, many.counts));
      CHECK(equal(one.offsets, many.offsets));
      CHECK(equal(one.occurrences, many.occurrences));
    }
  }
}

TEST_CASE("hash_mapper: one id a million times, and a million distinct ones") {
  constexpr std::size_t count = 1'000'000;
  std::vector<narrow::key> same(count, narrow::pack(inlay::table_id{3}, 5));
  std::vector<narrow::key> distinct(count);
  for (std::size_t i = 0; i < count; ++i) {
    distinct[i] = narrow::pack(inlay::table_id{3}, i * 7919 % count);
  }
  for (std::size_t threads : {1U, 2U}) {
    CAPTURE(threads);
    hash_mapper::workspace<narrow::key> work;
    id_plan<narrow::key> plan;
    hash_mapper{}.map(host_exec(threads), {same.data(), count}, work, plan);
    CHECK(plan.size() == 1);
    CHECK(plan.counts[0] == count);
    CHECK(std::is_sorted(plan.occurrences.begin(), plan.occurrences.end()));
    hash_mapper{}.map(host_exec(threads), {distinct.data(), count}, work, plan);
    CHECK(equal(plan.unique, distinct));
    CHECK(equal(plan.virtual_ids, plan.occurrences));
  }
}

TEST_CASE("hash_mapper: a step of 2^25 ids" * doctest::skip(is_sanitized)) {
  constexpr std::size_t count = std::size_t{1} << 25U;
  std::vector<narrow::key> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    keys[i] = narrow::pack(inlay::table_id{1}, i * 3 % (count / 2));  // each twice
  }
  for (std::size_t threads : {1U, 2U}) {
    hash_mapper::workspace<narrow::key> work;
    id_plan<narrow::key> plan;
    hash_mapper{}.map(host_exec(threads), {keys.data(), count}, work, plan);
    CHECK(plan.size() == count / 2);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < count; ++i) {
      wrong += plan.virtual_ids[i] != i % (count / 2) ? 1U : 0U;
    }
    for (std::size_t v = 0; v < plan.size(); ++v) {
      auto const both = plan.occurrences_of(v);
      wrong += both.size() != 2 || both[0] != v || both[1] != v + count / 2 ? 1U : 0U;
    }
    CHECK(wrong == 0);
  }
}

TEST_CASE("hash_mapper: keeps the laws of a mapper") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    inlay::testing::check_id_mapper(hash_mapper{}, seed);
  }
}

TEST_CASE("sort_mapper: keeps the laws of a mapper") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    inlay::testing::check_id_mapper(sort_mapper{}, seed);
  }
}

TEST_CASE("hash_mapper: equals sort_mapper, on many keys and on one key many times") {
  host_exec const exec(2);
  hash_mapper::workspace<narrow::key> hash_work;
  sort_mapper::workspace<narrow::key> sort_work;
  id_plan<narrow::key> hashed;
  id_plan<narrow::key> sorted;
  for (std::size_t ids : {1U, 2U, 1000U, 100'000U}) {
    CAPTURE(ids);
    inlay::testing::trial with("the mappers", ids);
    auto const keys = inlay::testing::some_keys<narrow>(with, 100'000, 26, ids);
    span<narrow::key const> const view(keys.data(), keys.size());
    hash_mapper{}.map(exec, view, hash_work, hashed);
    sort_mapper{}.map(exec, view, sort_work, sorted);
    CHECK(equal(hashed.unique, sorted.unique));
    CHECK(equal(hashed.virtual_ids, sorted.virtual_ids));
    CHECK(equal(hashed.counts, sorted.counts));
    CHECK(equal(hashed.offsets, sorted.offsets));
    CHECK(equal(hashed.occurrences, sorted.occurrences));
  }
}

TEST_CASE_TEMPLATE("mapper: more ids than a step can number are an error before anything is read",
                   Mapper, hash_mapper, sort_mapper) {
  typename Mapper::template workspace<narrow::key> work;
  id_plan<narrow::key> plan;
  narrow::key const one{};
  CHECK_THROWS_WITH_AS(Mapper{}.map(host_exec(1),
                                    span<narrow::key const>(&one, (std::size_t{1} << 32U) - 1),
                                    work, plan),
                       doctest::Contains("2^32 - 2 ids"), inlay::error);
}

TEST_CASE("mapper laws: a mapper that breaks one is found, with the law and the seed") {
  CHECK_THROWS_WITH_AS(inlay::testing::check_id_mapper(sorted_numbers{}, 3),
                       doctest::Contains("first appearance (seed 3)"), inlay::error);
  CHECK_THROWS_WITH_AS(inlay::testing::check_id_mapper(forgetful{}, 4),
                       doctest::Contains("counts and offsets add up (seed 4)"), inlay::error);
}

TEST_CASE("merge: no ranks, and ranks without keys, give an empty plan") {
  host_exec const exec(1);
  hash_mapper::workspace<narrow::key> work;
  inlay::merged_plan<narrow::key> merged;
  merge(exec, hash_mapper{}, span<id_plan<narrow::key> const>(), work, merged);
  CHECK(merged.unique.empty());
  std::vector<id_plan<narrow::key>> parts(3);
  merge(exec, hash_mapper{}, span<id_plan<narrow::key> const>(parts.data(), 3), work, merged);
  CHECK(merged.unique.empty());
  CHECK(merged.places.size() == 3);
}
