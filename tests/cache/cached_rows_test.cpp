#include <inlay/cache/cached_rows.hpp>

#include "batch/files.hpp"
#include "cache/every_policy.hpp"

#include <inlay/cache/fully_associative.hpp>
#include <inlay/cache/set_associative.hpp>
#include <inlay/table/host_table.hpp>
#include <inlay/testing/row_store_laws.hpp>
#include <inlay/testing/trial.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

using inlay::host_exec;
using inlay::lru;
using inlay::narrow;
using inlay::row_refs;
using inlay::set_associative;
using inlay::set_overflow;
using inlay::step_id;
using inlay::testing::trial;

namespace {

using key = narrow::key;
using store = inlay::host_rows<narrow, inlay::uniform>;

store make_store() {
  return store(inlay::new_row<narrow, inlay::uniform>({}, 9, 3, {0.5F, 0.01F}, {0.25F}), 1000);
}

std::vector<key> keys_from(std::uint64_t first, std::size_t count) {
  std::vector<key> keys;
  for (std::uint64_t id = first; id < first + count; ++id) {
    keys.push_back(narrow::pack(inlay::table_id{0}, id));
  }
  return keys;
}

template <class Rows>
inlay::row_traffic bring(Rows& rows, std::vector<key> const& keys, row_refs& refs,
                         std::int64_t step = 0) {
  std::vector<std::uint32_t> const counts(keys.size(), 1);
  return rows.bring(host_exec(1), {keys.data(), keys.size()}, {counts.data(), counts.size()},
                    step_id{step}, refs);
}

template <class Rows>
inlay::row_traffic keep(Rows& rows, std::vector<key> const& keys) {
  return rows.keep(host_exec(1), {keys.data(), keys.size()}, step_id{0});
}

/// A step in flight.
struct open_step {
  std::vector<key> keys;
  row_refs refs;
};

/// Kept rows under random steps, two of them in flight: they stay where they are, and all rows are
/// what they would be without a cache.
template <class Rows>
class kept_under_traffic {
 public:
  kept_under_traffic(Rows rows, std::vector<key> const& kept) : rows_(std::move(rows)) {
    (void)keep(rows_, kept);
    row_refs refs;
    CHECK(bring(rows_, kept, refs).hits == kept.size());
    for (std::size_t u = 0; u < kept.size(); ++u) {
      places_[kept[u]] = refs.weights[u];
    }
    rows_.release(refs);
  }

  void run(trial& with, std::size_t steps) {
    for (std::size_t n = 0; n < steps; ++n) {
      step(with, static_cast<std::int64_t>(n));
    }
    while (!open_.empty()) {
      release();
    }
    (void)rows_.flush(host_exec(2));
    rows_.store().for_each([&](key row, inlay::span<float const> values) {
      if (truth_.contains(row)) REQUIRE(values[0] == truth_[row]);
    });
  }

 private:
  void step(trial& with, std::int64_t number) {
    auto& next = open_.emplace_back();
    next.keys = inlay::testing::distinct_keys<narrow>(with, with.below(8), 1, 80);
    bring(rows_, next.keys, next.refs, number);
    for (std::size_t u = 0; u < next.keys.size(); ++u) {
      auto const row = next.keys[u];
      if (auto const at = places_.find(row); at != places_.end()) {
        REQUIRE(next.refs.weights[u] == at->second);
      }
      if (truth_.contains(row)) REQUIRE(next.refs.weights[u][0] == truth_[row]);
      next.refs.weights[u][0] = truth_[row] = static_cast<float>(with.below(1000));
    }
    if (open_.size() > 2) release();
  }

  void release() {
    rows_.release(open_.front().refs);
    open_.pop_front();
  }

  Rows rows_;
  std::map<key, float*> places_;  // of kept rows
  std::map<key, float> truth_;    // first weights that were written
  std::deque<open_step> open_;
};

}  // namespace

TEST_CASE("cached_rows: kept rows stay where they are, whatever the policy and the sets") {
  trial with("a cache with kept rows", fresh_seed("cached_rows"));
  for_every_policy([&](auto const& policy) {
    CAPTURE(std::remove_cvref_t<decltype(policy)>::name);
    auto const run = [&](auto rows) {
      kept_under_traffic(std::move(rows), keys_from(0, 6)).run(with, 400);
    };
    run(inlay::fully_associative{}.open(policy, 32, make_store()));
    run(set_associative<8>{.overflow = set_overflow::spill}.open(policy, 32, make_store()));
    run(set_associative<32>{}.open(policy, 32, make_store()));
    run(set_associative<32>{.overflow = set_overflow::second_set}.open(policy, 64, make_store()));
  });
}

TEST_CASE("cached_rows: a step that does not fit beside kept rows is an error that says so") {
  inlay::cached_rows<lru, store> rows(lru{}, 10, make_store());
  auto const traffic = keep(rows, keys_from(0, 4));
  CHECK(traffic.misses == 4);
  CHECK(traffic.created == 4);
  row_refs refs;
  CHECK(sentence_of([&] { (void)bring(rows, keys_from(10, 7), refs); }) ==
        "a step needs 7 rows of width 3 in the cache at once, and it can have 6 of 10, for 4 rows "
        "of it are kept: raise cache_rows or lower the batch");
  CHECK(bring(rows, keys_from(10, 6), refs).misses == 6);
  rows.release(refs);
  CHECK(bring(rows, keys_from(0, 10), refs).hits == 4);  // its own among them
  rows.release(refs);

  auto sets = set_associative<2>{}.open(lru{}, 2, make_store());
  (void)keep(sets, keys_from(0, 1));
  CHECK(sentence_of([&] { (void)bring(sets, keys_from(10, 2), refs); })
            .starts_with("a step needs 2 ways of set 0 for rows of width 3 at once, and it can "
                         "have 1 of 2, for 1 rows of it are kept: "));
}

TEST_CASE("cached_rows: rows are kept again and again, those that are cached or kept as well") {
  inlay::cached_rows<lru, store> rows(lru{}, 10, make_store());
  row_refs refs;
  (void)bring(rows, keys_from(0, 3), refs);
  rows.release(refs);
  CHECK(keep(rows, keys_from(0, 2)).hits == 2);
  CHECK(keep(rows, keys_from(1, 4)).hits == 2);  // 1 and 2
  CHECK(keep(rows, {}).unique == 0);
  for (std::uint64_t first = 10; first < 100; first += 5) {
    CHECK(bring(rows, keys_from(first, 5), refs).evictions == (first == 10 ? 0U : 5U));
    rows.release(refs);
  }
  CHECK(sentence_of([&] {
          (void)bring(rows, keys_from(10, 6), refs);
        }).find("it can have 5 of 10, for 5 rows of it are kept") != std::string::npos);
  CHECK(bring(rows, keys_from(0, 5), refs).hits == 5);
}

TEST_CASE(
    "cached_rows: rows that find no slot to be kept in are an error, and nothing has changed") {
  inlay::cached_rows<lru, store> rows(lru{}, 4, make_store());
  (void)keep(rows, keys_from(0, 2));
  CHECK(sentence_of([&] { (void)keep(rows, keys_from(1, 4)); }) ==
        "not all of 4 rows of width 3 find a slot to be kept in: the cache has 4 in sets of 4, for "
        "2 rows of it are kept: raise cache_rows or keep fewer");
  CHECK(rows.store().size() == 2);
  row_refs refs;
  CHECK(bring(rows, keys_from(10, 2), refs).misses == 2);
  CHECK(sentence_of([&] { (void)keep(rows, keys_from(10, 1)); }) ==
        "keep rows while no step has any");
  rows.release(refs);

  auto spilling = set_associative<2>{.overflow = set_overflow::spill}.open(lru{}, 2, make_store());
  CHECK(sentence_of([&] { (void)keep(spilling, keys_from(0, 3)); })
            .starts_with("not all of 3 rows of width 3 find a slot to be kept in: the cache has 2 "
                         "in sets of 2: "));
  CHECK(spilling.store().size() == 0);
  (void)keep(spilling, keys_from(0, 2));
  CHECK(bring(spilling, keys_from(1, 3), refs).spilled == 2);
}
