#include <inlay/table/admission.hpp>

#include <inlay/core/error.hpp>
#include <inlay/table/admit_if.hpp>
#include <inlay/table/after.hpp>
#include <inlay/table/always.hpp>
#include <inlay/table/probability.hpp>
#include <inlay/testing/admission_laws.hpp>
#include <inlay/vsid/wide.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

using inlay::narrow;
using inlay::step_id;
using inlay::testing::check_admission;
using inlay::testing::check_admission_by_shards;

namespace {

/// Admits a key that has come often enough among the last askings: a functor that remembers.
struct seen_lately {
  std::uint64_t last = 0;

  bool operator()(narrow::key key, std::uint32_t count) {
    auto const same = key.bits % 7 == last % 7;
    last = key.bits + count;
    return same;
  }
};

/// What a broken part has in common: no memory.
struct stateless {
  [[nodiscard]] static std::size_t bytes() { return 0; }
  [[nodiscard]] static std::uint64_t dropped() { return 0; }
};

/// Answers by a counter that all states share.
struct shared_counter {
  void check() const noexcept {}
  template <class Key>
  struct state : stateless {
    explicit state(shared_counter) noexcept {}
    static inline std::uint32_t asked = 0;
    [[nodiscard]] bool admit(Key, std::uint32_t, step_id) const noexcept {
      return ++asked % 3 == 0;
    }
  };
};

/// Answers by where the state lies.
struct by_address {
  void check() const noexcept {}
  template <class Key>
  struct state : stateless {
    explicit state(by_address) noexcept : self(this) {}
    state* self;
    [[nodiscard]] bool admit(Key, std::uint32_t, step_id) const noexcept { return self == this; }
  };
};

/// Forgets that it has dropped counts.
struct falling {
  void check() const noexcept {}
  template <class Key>
  struct state {
    explicit state(falling) noexcept {}
    std::uint64_t asked = 0;
    bool admit(Key, std::uint32_t, step_id) noexcept { return ++asked == 0; }
    [[nodiscard]] std::size_t bytes() const { return 0; }
    [[nodiscard]] std::uint64_t dropped() const { return asked % 100; }
  };
};

/// Admits every third key that is asked for, whichever it is.
struct every_third {
  void check() const noexcept {}
  template <class Key>
  struct state : stateless {
    explicit state(every_third) noexcept {}
    std::uint32_t asked = 0;
    bool admit(Key, std::uint32_t, step_id) noexcept { return ++asked % 3 == 0; }
  };
};

}  // namespace

static_assert(inlay::admission<inlay::always, inlay::wide::key>);
static_assert(inlay::admission<inlay::after, inlay::wide::key>);
static_assert(inlay::admission<inlay::probability, inlay::wide::key>);
static_assert(inlay::admission<inlay::admit_if<seen_lately>>);
static_assert(inlay::admits_all<inlay::always> && !inlay::admits_all<inlay::after>);
static_assert(!inlay::admission<narrow>);

TEST_CASE("admission: always, after, probability and a functor of one's own keep the laws") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    check_admission(inlay::always{}, seed);
    check_admission(inlay::after{}, seed);
    check_admission(inlay::after{.uses = 1}, seed);
    check_admission(inlay::after{.uses = 20, .most_counted = 2}, seed);
    check_admission(inlay::after{.uses = 5, .most_counted = 301}, seed);
    check_admission(inlay::probability{}, seed);
    check_admission(inlay::probability{.of = 0.9F, .seed = seed}, seed);
    check_admission(inlay::admit_if{seen_lately{}}, seed);
  }
}

TEST_CASE("admission: whoever is asked for beside a key does not change the answer about it") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    check_admission_by_shards(inlay::always{}, seed);
    check_admission_by_shards(inlay::after{.uses = 4}, seed);
    check_admission_by_shards(inlay::after{.uses = 9, .most_counted = 50}, seed);
    check_admission_by_shards(inlay::probability{.of = 0.2F}, seed);
  }
}

TEST_CASE("admission: always admits, and an engine may know that without asking") {
  inlay::always::state<narrow::key> const state{inlay::always{}};
  CHECK(state.admit({7}, 1, step_id{}));
  CHECK(state.bytes() == 0);
}

TEST_CASE("admission: a lambda with a capture decides, and gets key and count") {
  inlay::admit_if const part{[least = 3U](narrow::key key, std::uint32_t count) {
    return count >= least && inlay::index(narrow::table(key)) == 1;
  }};
  check_admission(part);
  check_admission_by_shards(part);
  decltype(part)::state<narrow::key> state(part);
  CHECK(state.admit(narrow::pack(inlay::table_id{1}, 5), 3, step_id{}));
  CHECK_FALSE(state.admit(narrow::pack(inlay::table_id{1}, 5), 2, step_id{}));
  CHECK_FALSE(state.admit(narrow::pack(inlay::table_id{0}, 5), 3, step_id{}));
}

TEST_CASE("admission: each state has a functor of its own") {
  inlay::admit_if const part{
      [asked = 0](narrow::key, std::uint32_t) mutable { return ++asked == 2; }};
  decltype(part)::state<narrow::key> one(part);
  decltype(part)::state<narrow::key> other(part);
  CHECK_FALSE(one.admit({1}, 1, step_id{}));
  CHECK_FALSE(other.admit({1}, 1, step_id{}));
  CHECK(one.admit({1}, 1, step_id{}));
}

TEST_CASE("admission: every key of a step is visited once, in order, whatever their number") {
  for (std::size_t const size : {0U, 1U, 255U, 256U, 257U, 3000U}) {
    std::vector<narrow::key> keys(size);
    std::vector<std::uint32_t> counts(size);
    for (std::size_t i = 0; i < size; ++i) {
      keys[i] = {i * i};
      counts[i] = static_cast<std::uint32_t>(1 + i % 4);
    }
    inlay::after::state<narrow::key> state(inlay::after{.uses = 3});
    std::size_t visited = 0;
    inlay::admit_each(state, step_id{}, inlay::span<narrow::key const>(keys.data(), size),
                      inlay::span<std::uint32_t const>(counts.data(), size),
                      [&](std::size_t i, bool admitted) {
                        REQUIRE(i == visited++);
                        REQUIRE(admitted == (counts[i] >= 3));
                      });
    CHECK(visited == size);
  }
}

TEST_CASE("admission laws: one that breaks a law is found, with the law and the seed") {
  CHECK_THROWS_WITH_AS(check_admission(shared_counter{}, 3),
                       doctest::Contains("the same accesses get the same answers (seed 3)"),
                       inlay::error);
  CHECK_THROWS_WITH_AS(check_admission(by_address{}, 3), doctest::Contains("the same answers"),
                       inlay::error);
  CHECK_THROWS_WITH_AS(check_admission(falling{}, 3), doctest::Contains("never falls"),
                       inlay::error);
  check_admission(every_third{}, 3);
  CHECK_THROWS_WITH_AS(check_admission_by_shards(every_third{}, 3),
                       doctest::Contains("does not depend on other keys (seed 3)"), inlay::error);
}
