#include <inlay/table/after.hpp>

#include <inlay/core/error.hpp>
#include <inlay/core/hash.hpp>
#include <inlay/testing/admission_laws.hpp>
#include <inlay/testing/trial.hpp>
#include <inlay/vsid/keys.hpp>
#include <inlay/vsid/wide.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <random>
#include <utility>

using inlay::after;
using inlay::narrow;
using inlay::step_id;
using inlay::testing::ask;

namespace {

/// Counts in a map, and drops nothing.
struct plain_counts {
  std::uint64_t uses;
  std::map<narrow::key, std::uint64_t> counts{};

  bool admit(narrow::key key, std::uint32_t count) {
    auto& now = counts[key];
    now += count;
    if (now < uses) return false;
    counts.erase(key);
    return true;
  }
};

/// Counts in a map with the generation beside each: what is said of `after`, word by word.
struct plain_generations {
  struct counted {
    std::uint64_t count;
    bool is_young;
  };
  std::uint64_t uses;
  std::size_t half;
  std::map<narrow::key, counted> all{};
  std::uint64_t dropped = 0;

  bool admit(narrow::key key, std::uint32_t count) {
    auto now = std::uint64_t{count};
    if (auto const known = all.find(key); known != all.end()) {
      now += known->second.count;
      all.erase(known);
    }
    if (now >= uses) return true;
    auto const young = std::count_if(all.begin(), all.end(),
                                     [](auto const& entry) { return entry.second.is_young; });
    if (static_cast<std::size_t>(young) == half) {
      dropped += std::erase_if(all, [](auto const& entry) { return !entry.second.is_young; });
      for (auto& entry : all) {
        entry.second.is_young = false;
      }
    }
    all.insert({key, {now, true}});
    return false;
  }
};

std::uint64_t some_seed() { return std::random_device{}(); }

}  // namespace

TEST_CASE("after: a key is admitted in the step in which its uses reach the number") {
  after::state<narrow::key> state(after{.uses = 3});
  CHECK_FALSE(state.admit({1}, 1, step_id{0}));
  CHECK_FALSE(state.admit({2}, 2, step_id{0}));
  CHECK(state.admit({3}, 3, step_id{0}));
  CHECK(state.admit({4}, 4'000'000'000U, step_id{0}));
  CHECK(state.counted() == 2);
  CHECK(state.admit({2}, 1, step_id{1}));
  CHECK_FALSE(state.admit({1}, 1, step_id{1}));
  CHECK(state.admit({1}, 1, step_id{2}));
  CHECK(state.counted() == 0);
  CHECK_FALSE(state.admit({1}, 2, step_id{3}));  // its row was erased: it is new
}

TEST_CASE("after: counts that nearly fill 32 bits neither wrap nor are taken for none") {
  constexpr auto most = ~std::uint32_t{0};
  after::state<narrow::key> state(after{.uses = most});
  CHECK_FALSE(state.admit({1}, most - 1, step_id{0}));
  CHECK(state.admit({1}, most, step_id{1}));
  CHECK_FALSE(state.admit({1}, most - 1, step_id{2}));
  CHECK(state.admit({1}, 1, step_id{3}));
  CHECK(state.counted() == 0);
}

TEST_CASE("after: with room for all it admits as counts in a map do") {
  auto const seed = some_seed();
  CAPTURE(seed);
  inlay::testing::trial with("after", seed);
  for (std::uint32_t uses = 1; uses <= 12; ++uses) {
    after::state<narrow::key> state(after{.uses = uses});
    plain_counts oracle{uses};
    inlay::testing::random_askings askings(20 + with.below(2000));
    std::size_t wrong = 0;
    for (int step = 0; step < 50; ++step) {
      auto asked = askings.next(with);
      ask(state, asked);
      for (std::size_t i = 0; i < asked.keys.size(); ++i) {
        auto const right = oracle.admit(asked.keys[i], asked.counts[i]);
        wrong += right == (asked.answers[i] == 1) ? 0U : 1U;
      }
      askings.create(with, asked);
      REQUIRE(state.counted() == oracle.counts.size());
    }
    CHECK(wrong == 0);
    CHECK(state.dropped() == 0);
  }
}

TEST_CASE(
    "after: with little room it drops the generation that is said, and counts what it drops") {
  auto const seed = some_seed();
  CAPTURE(seed);
  inlay::testing::trial with("after", seed);
  std::uint64_t dropped = 0;
  for (int round = 0; round < 20; ++round) {
    after const part{.uses = static_cast<std::uint32_t>(1 + with.below(9)),
                     .most_counted = static_cast<std::uint32_t>(2 + with.skewed(120))};
    after::state<narrow::key> state(part);
    plain_generations oracle{part.uses, part.most_counted / 2};
    inlay::testing::random_askings askings(5 + with.below(150));
    std::size_t wrong = 0;
    for (int step = 0; step < 40; ++step) {
      auto asked = askings.next(with);
      ask(state, asked);
      for (std::size_t i = 0; i < asked.keys.size(); ++i) {
        auto const right = oracle.admit(asked.keys[i], asked.counts[i]);
        wrong += right == (asked.answers[i] == 1) ? 0U : 1U;
      }
      askings.create(with, asked);
      REQUIRE(state.counted() == oracle.all.size());
      REQUIRE(state.counted() <= part.most_counted);
      REQUIRE(state.dropped() == oracle.dropped);
    }
    CHECK(wrong == 0);
    dropped += state.dropped();
  }
  CHECK(dropped > 0);
}

TEST_CASE("after: a key that comes back in time is never dropped, however many do not") {
  constexpr std::uint32_t most = 1000;
  after::state<narrow::key> state(after{.uses = 50, .most_counted = most});
  std::uint64_t others = 0;
  for (int use = 1; use < 50; ++use) {
    REQUIRE_FALSE(state.admit({0}, 1, step_id{}));
    for (std::uint32_t n = 0; n < most / 2 - 1; ++n) {
      REQUIRE_FALSE(state.admit({++others}, 1, step_id{}));
    }
  }
  CHECK(state.admit({0}, 1, step_id{}));
  CHECK(state.dropped() > others - most);
}

TEST_CASE("after: keys that never come back take no more memory than is said") {
  constexpr std::uint32_t most = 200'000;
  constexpr std::uint64_t asked = 1'000'000;
  after::state<narrow::key> state(after{.uses = 2, .most_counted = most});
  after::state<inlay::wide::key> wide(after{.uses = 2, .most_counted = most});
  std::size_t largest = 0;
  std::size_t largest_wide = 0;
  for (std::uint64_t id = 0; id < asked; ++id) {
    (void)state.admit({id}, 1, step_id{});
    (void)wide.admit({0, id}, 1, step_id{});
    largest = std::max(largest, state.bytes());
    largest_wide = std::max(largest_wide, wide.bytes());
  }
  CHECK(state.dropped() + state.counted() == asked);
  CHECK(state.counted() <= most);
  CHECK(largest <= std::size_t{2} * 26 * most);
  CHECK(largest_wide <= std::size_t{2} * 43 * most);
  CHECK(state.bytes() >= 20 * state.counted());
  CHECK(state.bytes() <= std::size_t{26} * most);
  CHECK(wide.bytes() <= std::size_t{43} * most);
}

TEST_CASE("after: admitted keys leave nothing behind") {
  after::state<narrow::key> state(after{.uses = 2});
  for (std::uint64_t id = 0; id < 100'000; ++id) {
    REQUIRE_FALSE(state.admit({id}, 1, step_id{0}));
    REQUIRE(state.admit({id}, 1, step_id{1}));
  }
  CHECK(state.counted() == 0);
  CHECK(state.bytes() < 4096);
}

TEST_CASE("after: knobs that make no sense are refused in words") {
  CHECK_NOTHROW(after{}.check());
  CHECK_THROWS_WITH_AS(after{.uses = 0}.check(), doctest::Contains("uses must not be zero"),
                       inlay::error);
  for (std::uint32_t most = 0; most < 2; ++most) {
    CHECK_THROWS_WITH_AS(after{.most_counted = most}.check(),
                         doctest::Contains("most_counted must be at least 2"), inlay::error);
  }
  CHECK_THROWS_AS(after::state<narrow::key>(after{.uses = 0}), inlay::error);
}
