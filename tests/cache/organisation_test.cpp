#include <inlay/cache/organisation.hpp>

#include "failing_new.hpp"

#include <inlay/cache/fully_associative.hpp>
#include <inlay/cache/in_place.hpp>
#include <inlay/cache/lru.hpp>
#include <inlay/cache/no_cache.hpp>
#include <inlay/cache/set_associative.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/one_of.hpp>
#include <inlay/table/host_table.hpp>
#include <inlay/testing/organisation_laws.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using inlay::cached_rows;
using inlay::host_exec;
using inlay::lru;
using inlay::narrow;
using inlay::row_refs;
using inlay::set_associative;
using inlay::set_overflow;
using inlay::sieve;
using inlay::span;
using inlay::step_id;
using inlay::table_id;
using inlay::uniform;
using store = inlay::host_rows<narrow, uniform>;

namespace {

store open(std::size_t dim, std::size_t state) {
  return store(
      inlay::new_row<narrow, uniform>({}, 9, dim, {0.5F, 0.01F}, std::vector<float>(state, 0.25F)),
      1000);
}

template <class Organisation, class Cache>
void check_laws(Organisation const& organisation, Cache const& cache) {
  for (auto const& [dim, state] : {std::pair{1U, 0U}, {3U, 1U}, {4U, 4U}, {9U, 9U}}) {
    CAPTURE(dim);
    CAPTURE(state);
    auto const make_store = [width = dim, beside = state] { return open(width, beside); };
    auto const make_rows = [&](std::size_t capacity) {
      return organisation.open(cache, capacity, make_store());
    };
    inlay::testing::check_row_organisation(make_rows, make_store, 10 * dim + state);
  }
}

std::vector<narrow::key> keys_from(std::uint64_t first, std::size_t count) {
  std::vector<narrow::key> keys;
  for (std::uint64_t id = first; id < first + count; ++id) {
    keys.push_back(narrow::pack(table_id{0}, id));
  }
  return keys;
}

template <class Rows>
inlay::row_traffic bring(Rows& rows, std::vector<narrow::key> const& keys, row_refs& refs) {
  std::vector<std::uint32_t> const counts(keys.size(), 1);
  return rows.bring(host_exec(1), {keys.data(), keys.size()}, {counts.data(), counts.size()},
                    step_id{0}, refs);
}

/// Writes the same values to rows and oracle: row id gets id + mark in every column.
template <class Rows>
void mark(Rows& rows, std::vector<narrow::key> const& keys, float value) {
  row_refs refs;
  (void)bring(rows, keys, refs);
  for (std::size_t u = 0; u < keys.size(); ++u) {
    refs.weights[u][0] = static_cast<float>(narrow::id(keys[u])) + value;
  }
  rows.release(refs);
}

template <class Rows>
bool marked(Rows const& rows, std::vector<narrow::key> const& keys, float value) {
  std::vector<float const*> now(keys.size());
  rows.peek({keys.data(), keys.size()}, {now.data(), now.size()});
  for (std::size_t u = 0; u < keys.size(); ++u) {
    if (now[u] == nullptr || now[u][0] != static_cast<float>(narrow::id(keys[u])) + value) {
      return false;
    }
  }
  return true;
}

/// LRU that gives so many right answers and then a wrong one.
struct faulty : lru {
  int* right_answers = nullptr;
  inlay::way_id wrong_answer = inlay::no_way;

  template <class Pinned>
  inlay::way_id victim(span<slot_state> slots, set_state& set, inlay::cache_access const& use,
                       Pinned const& pinned) const {
    if ((*right_answers)-- <= 0) return wrong_answer;
    return lru::victim(slots, set, use, pinned);
  }
};

/// Law: when memory runs out at any allocation, the step has not begun.
template <class Organisation>
void check_out_of_memory(Organisation const& organisation) {
  auto const old_keys = keys_from(0, 40);
  auto const step_keys = keys_from(30, 40);
  long n = 0;
  for (bool failed = true; failed; ++n) {
    CAPTURE(n);
    auto rows = organisation.open(sieve{}, 40, open(3, 1));
    auto twin = organisation.open(sieve{}, 40, open(3, 1));
    mark(rows, old_keys, 0.5F);
    mark(twin, old_keys, 0.5F);
    std::vector<std::uint32_t> const counts(40, 1);
    row_refs refs;
    host_exec const exec(1);
    failed = failing_new::fails(n, [&] {
      (void)rows.bring(exec, {step_keys.data(), 40}, {counts.data(), 40}, step_id{1}, refs);
    });
    CHECK(marked(rows, old_keys, 0.5F));
    if (failed) {
      CHECK(rows.store().size() == 40);
      rows.release(refs);
      (void)bring(rows, step_keys, refs);
    }
    row_refs others;
    (void)bring(twin, step_keys, others);
    for (std::size_t u = 0; u < 40; ++u) {
      CHECK(refs.weights[u][0] == others.weights[u][0]);
    }
    CHECK(marked(rows, old_keys, 0.5F));
    rows.release(refs);
    twin.release(others);
  }
  CHECK(n > 5);
}

/// Law: a policy that names no victim, a pinned one or none of its slots fails the step and loses
/// no row. Of one set.
template <class Organisation>
void check_faulty_policy(Organisation const& organisation) {
  for (auto const answer : {inlay::no_way, inlay::way_id{0}, inlay::way_id{20}}) {
    for (int placed : {0, 1, 5, 14}) {
      CAPTURE(answer);
      CAPTURE(placed);
      int right_answers = 1000;
      faulty policy;
      policy.right_answers = &right_answers;
      policy.wrong_answer = answer;
      auto rows = organisation.open(policy, 20, open(3, 1));
      for (std::uint64_t first = 0; first < 100; first += 20) {
        mark(rows, keys_from(first, 20), 0.5F);
      }
      row_refs open_refs;
      (void)bring(rows, keys_from(80, 1), open_refs);  // pins slot 0
      right_answers = placed;
      row_refs refs;
      CHECK_THROWS_WITH_AS(bring(rows, keys_from(0, 15), refs),
                           doctest::Contains("the cache policy found no victim"), inlay::error);
      right_answers = 1000;
      CHECK(marked(rows, keys_from(0, 100), 0.5F));
      rows.release(refs);
      rows.release(open_refs);
      (void)rows.flush(host_exec(1));
      CHECK(marked(rows, keys_from(0, 100), 0.5F));
      row_refs all;
      (void)bring(rows, keys_from(40, 20), all);  // no pin was left behind
      rows.release(all);
      CHECK(marked(rows, keys_from(0, 100), 0.5F));
    }
  }
}

}  // namespace

TEST_CASE("in_place: equals a map that never evicts") {
  check_laws(inlay::in_place{}, inlay::no_cache{});
}

TEST_CASE("fully_associative: equals a map that never evicts, under lru, sieve, and either") {
  check_laws(inlay::fully_associative{}, lru{});
  check_laws(inlay::fully_associative{}, sieve{});
  using either = inlay::one_of<lru, sieve>;
  check_laws(inlay::fully_associative{}, either{lru{}});
  check_laws(inlay::fully_associative{}, either{sieve{}});
}

TEST_CASE("fully_associative: too many rows are an error that names needed and available rows") {
  cached_rows<lru, store> rows(lru{}, 10, open(3, 1));
  row_refs first;
  (void)bring(rows, keys_from(0, 6), first);
  row_refs second;
  CHECK_THROWS_WITH_AS(bring(rows, keys_from(4, 7), second),
                       doctest::Contains("needs 7 rows of width 3 in the cache at once, and it can "
                                         "have 6 of 10"),
                       inlay::error);
  CHECK(rows.store().size() == 6);
  rows.release(second);  // harmless
  (void)bring(rows, keys_from(4, 6), second);
  CHECK(second.weights[0] == first.weights[4]);
  rows.release(first);
  rows.release(second);
  row_refs whole;
  CHECK(bring(rows, keys_from(0, 10), whole).hits == 10);
}

TEST_CASE("fully_associative: its size is at least one row and at most what a slot can number") {
  using rows_type = cached_rows<lru, store>;
  CHECK_THROWS_WITH_AS(rows_type(lru{}, 0, open(3, 1)), doctest::Contains("at least one row"),
                       inlay::error);
  failing_new::largest = 0;
  CHECK_THROWS_WITH_AS(rows_type(lru{}, ~std::uint32_t{0}, open(3, 1)),
                       doctest::Contains("at most 3 * 2^30 rows"), inlay::error);
  CHECK(failing_new::largest < 1'000'000);  // it says so before it asks for the memory
}

TEST_CASE("organisation: when memory runs out at any allocation, the step has not begun") {
  check_out_of_memory(inlay::fully_associative{});
  check_out_of_memory(set_associative<40>{});
  check_out_of_memory(set_associative<4>{.overflow = set_overflow::spill});
}

TEST_CASE("organisation: a policy that names no victim, a pinned one or none of its slots fails "
          "the step and loses no row") {
  check_faulty_policy(inlay::fully_associative{});
  check_faulty_policy(set_associative<20>{});
  check_faulty_policy(set_associative<20>{.overflow = set_overflow::spill});
}

TEST_CASE("fully_associative: a row evicted, fetched again and updated ends as if it never left") {
  cached_rows<lru, store> rows(lru{}, 4, open(3, 1));
  for (int round = 0; round < 5; ++round) {
    mark(rows, keys_from(0, 4), static_cast<float>(round));
    mark(rows, keys_from(4, 4), 100.0F);
    CHECK(marked(rows, keys_from(0, 4), static_cast<float>(round)));
  }
  CHECK(rows.flush(host_exec(2)) == 4);
  CHECK(marked(rows, keys_from(0, 4), 4.0F));
  CHECK(marked(rows, keys_from(4, 4), 100.0F));
}
