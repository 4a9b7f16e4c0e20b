#include <inlay/cache/set_associative.hpp>

#include "batch/files.hpp"
#include "cache/every_policy.hpp"

#include <inlay/cache/cache_set.hpp>
#include <inlay/cache/cache_slots.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/one_of.hpp>
#include <inlay/table/host_table.hpp>
#include <inlay/testing/organisation_laws.hpp>
#include <inlay/testing/trial.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <deque>
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
using inlay::sieve;
using inlay::slot_id;
using inlay::step_id;
using inlay::way_sets;
using inlay::testing::trial;

namespace {

using key = narrow::key;
using store = inlay::host_rows<narrow, inlay::uniform>;

store open(std::size_t dim, std::size_t state) {
  return store(inlay::new_row<narrow, inlay::uniform>({}, 9, dim, {0.5F, 0.01F},
                                                      std::vector<float>(state, 0.25F)),
               1000);
}

template <std::uint32_t Ways, class Cache>
void check_laws(Cache const& cache, set_overflow overflow) {
  CAPTURE(Ways);
  CAPTURE(static_cast<int>(overflow));
  for (auto const& [dim, state] : {std::pair{1U, 0U}, {3U, 1U}, {4U, 4U}}) {
    CAPTURE(dim);
    auto const make_store = [width = dim, beside = state] { return open(width, beside); };
    auto const make_rows = [&](std::size_t capacity) {
      return set_associative<Ways>{.overflow = overflow}.open(cache, capacity, make_store());
    };
    inlay::testing::check_row_organisation(make_rows, make_store, 10 * dim + state, Ways);
  }
}

template <class Cache>
void check_laws_of_all(Cache const& cache) {
  for (auto const overflow :
       {set_overflow::reject, set_overflow::second_set, set_overflow::spill}) {
    check_laws<1>(cache, overflow);
    check_laws<2>(cache, overflow);
    check_laws<4>(cache, overflow);
    check_laws<16>(cache, overflow);
  }
}

/// Keys of one set among some, the first ones that there are.
std::vector<key> keys_of_set(std::size_t set, std::size_t sets, std::size_t count) {
  std::vector<key> keys;
  for (std::uint64_t id = 0; keys.size() < count; ++id) {
    auto const row = narrow::pack(inlay::table_id{0}, id);
    if (inlay::set_of(hash(row), sets) == set) keys.push_back(row);
  }
  return keys;
}

std::vector<key> part(std::vector<key> const& keys, std::size_t first, std::size_t count) {
  auto const from = keys.begin() + static_cast<std::ptrdiff_t>(first);
  return {from, from + static_cast<std::ptrdiff_t>(count)};
}

template <class Rows>
inlay::row_traffic bring(Rows& rows, std::vector<key> const& keys, row_refs& refs) {
  std::vector<std::uint32_t> const counts(keys.size(), 1);
  return rows.bring(host_exec(1), {keys.data(), keys.size()}, {counts.data(), counts.size()},
                    step_id{0}, refs);
}

template <class Rows>
float weight(Rows const& rows, key row) {
  float const* now = nullptr;
  rows.peek({&row, 1}, {&now, 1});
  return *now;
}

/// Steps of one kind of sets: slots of every key, step by step, some steps in flight.
template <class Slots>
class planned {
 public:
  explicit planned(Slots slots) : slots_(std::move(slots)) {}

  std::vector<slot_id> step(std::vector<key> const& keys, std::vector<std::uint32_t> const& counts,
                            std::size_t depth) {
    std::vector<slot_id> at(keys.size());
    inlay::span<key const> const all(keys.data(), keys.size());
    slots_.find(host_exec(1), all, {at.data(), at.size()},
                [](auto...) { inlay::fail("no room for a step"); });
    pins_.push_back(slots_.place(host_exec(1), all, {counts.data(), counts.size()},
                                 step_id{number_++}, {at.data(), at.size()}));
    for (; pins_.size() > depth; pins_.pop_front()) {
      slots_.release(pins_.front());
    }
    return at;
  }

  [[nodiscard]] Slots const& slots() const { return slots_; }

 private:
  Slots slots_;
  std::deque<inlay::slot_pins::set_id> pins_;
  std::int64_t number_ = 0;
};

}  // namespace

TEST_CASE("set_associative: equals a map that never evicts, whatever ways, overflow and policy") {
  check_laws_of_all(lru{});
  check_laws_of_all(inlay::s3_fifo{});
  check_laws_of_all(inlay::one_of<lru, sieve>{sieve{}});
}

TEST_CASE(
    "set_associative: with one set as large as the cache it does what fully_associative does") {
  constexpr std::uint32_t ways = 48;
  trial with("one set", fresh_seed("set_associative, one set"));
  for_every_policy([&](auto const& policy) {
    using policy_type = std::remove_cvref_t<decltype(policy)>;
    CAPTURE(policy_type::name);
    for (auto const overflow :
         {set_overflow::reject, set_overflow::second_set, set_overflow::spill}) {
      planned one(inlay::cache_slots<policy_type, key>(policy, ways));
      planned many(inlay::cache_slots<policy_type, key, way_sets<key, ways>>(
          policy, way_sets<key, ways>(ways, overflow)));
      for (int step = 0; step < 300; ++step) {
        auto const keys = inlay::testing::distinct_keys<narrow>(with, with.below(16), 2, 200);
        std::vector<std::uint32_t> counts(keys.size());
        for (auto& count : counts) {
          count = static_cast<std::uint32_t>(1 + with.below(3));
        }
        REQUIRE(one.step(keys, counts, 2) == many.step(keys, counts, 2));
        REQUIRE(one.slots().fresh() == many.slots().fresh());
        REQUIRE(one.slots().placed() == many.slots().placed());
      }
    }
  });
}

TEST_CASE("set_associative: one key at a time it has the hits and victims of cache_set") {
  constexpr std::uint32_t ways = 8;
  trial with("sets", fresh_seed("set_associative, beside cache_set"));
  for_every_policy([&](auto const& policy) {
    using policy_type = std::remove_cvref_t<decltype(policy)>;
    CAPTURE(policy_type::name);
    for (std::size_t const sets : {1U, 2U, 5U, 16U}) {
      CAPTURE(sets);
      std::vector<inlay::cache_set<policy_type, key, ways>> oracle(sets);
      for (auto& set : oracle) {
        set.reset(policy);
      }
      planned cache(inlay::cache_slots<policy_type, key, way_sets<key, ways>>(
          policy, way_sets<key, ways>(sets * ways, set_overflow::reject)));
      for (std::int64_t step = 0; step < 3000; ++step) {
        key const row{with.skewed(20 * sets * ways)};
        inlay::way_id way = inlay::no_way;
        key victim{};
        auto const set = inlay::set_of(hash(row), sets);
        auto const outcome =
            oracle[set].use(policy, row, {.hash = hash(row), .step = step_id{step}},
                            inlay::detail::nothing_pinned{}, way, victim);
        REQUIRE(cache.step({row}, {1}, 0) == std::vector{static_cast<slot_id>(set * ways + way)});
        REQUIRE(cache.slots().missed().empty() == (outcome == inlay::set_outcome::hit));
        REQUIRE(cache.slots().fresh() == (outcome == inlay::set_outcome::filled ? 1U : 0U));
      }
    }
  });
}

TEST_CASE("set_associative: the second set of a row is another, and both are its own") {
  for (std::size_t const sets : {2U, 3U, 64U}) {
    way_sets<key, 2> const two(2 * sets, set_overflow::second_set);
    std::vector<std::size_t> rows(sets);
    for (std::uint64_t id = 0; id < 100 * sets; ++id) {
      auto const hashed = hash(key{id});
      auto const [first, second] = two.sets_of(hashed);
      REQUIRE(first == inlay::set_of(hashed, sets));
      REQUIRE(second < sets);
      REQUIRE(second != first);
      ++rows[second];
    }
    for (auto const count : rows) {
      CHECK(count > 40);  // 100 on average
    }
  }
  auto const alone = way_sets<key, 2>(2, set_overflow::second_set).sets_of(12345);
  CHECK(alone[0] == alone[1]);
}

TEST_CASE("set_associative: a capacity that can't be cut into sets is an error in words") {
  auto const complaint = [](std::size_t capacity) {
    return sentence_of([&] { (void)set_associative<16>{}.open(lru{}, capacity, open(3, 1)); });
  };
  CHECK(complaint(0) == "a cache needs at least one row");
  CHECK(complaint(40) ==
        "a cache of 40 rows can't be cut into sets of 16 ways: make it a multiple of that");
  CHECK(complaint(15) ==
        "a cache of 15 rows can't be cut into sets of 16 ways: make it a multiple of that");
  CHECK(complaint(std::size_t{1} << 40U) == "a cache holds at most 3 * 2^30 rows");
  CHECK(complaint(48).empty());
}

TEST_CASE("set_associative: a set that is too full is named, and nothing has changed") {
  auto rows = set_associative<4>{}.open(lru{}, 12, open(3, 1));
  auto const keys = keys_of_set(1, 3, 8);
  row_refs first;
  (void)bring(rows, part(keys, 0, 2), first);
  row_refs second;
  CHECK(sentence_of([&] { (void)bring(rows, part(keys, 1, 4), second); }) ==
        "a step needs 4 ways of set 1 for rows of width 3 at once, and it can have 3 of 4 beside 1 "
        "step in flight: take more ways, another set_overflow or more cache_rows, or lower the "
        "batch, or have fewer steps in flight (shape.prefetch, leases)");
  CHECK(rows.store().size() == 2);
  rows.release(second);
  CHECK(bring(rows, part(keys, 1, 3), second).hits == 1);
  CHECK(second.weights[0] == first.weights[1]);
  rows.expect_room(12);
  CHECK(sentence_of([&] { rows.expect_room(13); }) ==
        "a step needs 13 rows of width 3 in the cache at once, and it can have 12 of 12: raise "
        "cache_rows or lower the batch");
}

TEST_CASE("set_associative: a second set takes what the first can't, and is counted") {
  auto rows = set_associative<2>{.overflow = set_overflow::second_set}.open(lru{}, 4, open(3, 1));
  auto const keys = keys_of_set(0, 2, 5);
  row_refs refs;
  auto const traffic = bring(rows, part(keys, 0, 3), refs);
  CHECK(traffic.second_set == 1);
  CHECK(traffic.spilled == 0);
  CHECK(refs.slots[2] / 2 == 1);
  refs.weights[2][0] = 7.0F;
  row_refs more;
  CHECK(bring(rows, part(keys, 2, 2), more).second_set == 1);
  CHECK(more.weights[0] == refs.weights[2]);
  row_refs full;
  CHECK(sentence_of([&] { (void)bring(rows, part(keys, 4, 1), full); })
            .starts_with("a step needs 1 ways of set 0 for rows of width 3 at once, and it can "
                         "have 0 of 2"));
  rows.release(refs);
  rows.release(more);
  CHECK(bring(rows, part(keys, 2, 1), more).hits == 1);  // found where it is
  CHECK(weight(rows, keys[2]) == 7.0F);
}

TEST_CASE("set_associative: a row that spills is used in the table, the same by all steps, until "
          "none does") {
  auto rows = set_associative<2>{.overflow = set_overflow::spill}.open(lru{}, 2, open(3, 1));
  auto const keys = keys_of_set(0, 1, 4);
  rows.expect_room(1000);
  row_refs first;
  auto const traffic = bring(rows, part(keys, 0, 3), first);
  CHECK(traffic.misses == 3);
  CHECK(traffic.spilled == 1);
  CHECK(traffic.evictions == 0);
  CHECK(first.slots[2] == inlay::no_way);
  first.weights[2][0] = 1.0F;
  first.state[2][0] = 2.0F;
  CHECK(weight(rows, keys[2]) == 1.0F);

  row_refs second;
  CHECK(bring(rows, part(keys, 2, 1), second).spilled == 1);
  rows.release(first);  // now there are ways, but the second step still uses it in the table
  row_refs third;
  CHECK(bring(rows, part(keys, 2, 2), third).spilled == 1);
  CHECK(third.slots[1] != inlay::no_way);
  CHECK(third.weights[0] == second.weights[0]);
  second.weights[0][0] = 3.0F;
  CHECK(third.weights[0][0] == 3.0F);
  rows.release(third);
  CHECK(bring(rows, part(keys, 2, 1), third).spilled == 1);
  rows.release(second);
  rows.release(third);

  CHECK(bring(rows, part(keys, 2, 1), first).spilled == 0);  // nobody does: it gets a slot
  CHECK(first.slots[0] != inlay::no_way);
  CHECK(first.weights[0][0] == 3.0F);
  CHECK(first.state[0][0] == 2.0F);
  CHECK(bring(rows, part(keys, 2, 1), second).hits == 1);
}
