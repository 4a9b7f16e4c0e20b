#include <inlay/table/probability.hpp>

#include <inlay/core/error.hpp>
#include <inlay/core/hash.hpp>
#include <inlay/vsid/keys.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

using inlay::narrow;
using inlay::probability;
using inlay::step_id;

namespace {

/// True if `hits` of `of` are as many as a chance gives, within five standard deviations and five
/// more, for chances so near to nought or one that a single hit is many deviations.
bool is_likely(std::size_t hits, std::size_t of, double chance) {
  auto const n = static_cast<double>(of);
  auto const deviation = std::sqrt(n * chance * (1 - chance));
  return std::abs(static_cast<double>(hits) - n * chance) <= 5 * deviation + 5;
}

std::uint64_t some_seed() { return std::random_device{}(); }

}  // namespace

TEST_CASE("probability: each occurrence of a key admits it with the chance") {
  auto const seed = some_seed();
  CAPTURE(seed);
  constexpr std::size_t keys = 100'000;
  for (float const of : {0.0F, 0.001F, 0.1F, 0.5F, 0.9F, 1.0F}) {
    for (std::uint32_t const count : {1U, 2U, 7U, 1000U}) {
      CAPTURE(of);
      CAPTURE(count);
      probability::state<narrow::key> const state(probability{.of = of, .seed = seed});
      std::size_t admitted = 0;
      for (std::uint64_t id = 0; id < keys; ++id) {
        admitted += state.admit({id}, count, step_id{5}) ? 1U : 0U;
      }
      auto const chance = 1 - std::pow(1 - static_cast<double>(of), count);
      CHECK(is_likely(admitted, keys, chance));
    }
  }
}

TEST_CASE("probability: a key that was refused has the same chance in the next step") {
  auto const seed = some_seed();
  CAPTURE(seed);
  probability::state<narrow::key> const state(probability{.of = 0.25F, .seed = seed});
  std::vector<std::uint64_t> waiting(200'000);
  for (std::size_t id = 0; id < waiting.size(); ++id) {
    waiting[id] = id;
  }
  for (std::int64_t step = 0; step < 12; ++step) {
    CAPTURE(step);
    auto const before = waiting.size();
    std::erase_if(waiting, [&](std::uint64_t id) { return state.admit({id}, 1, step_id{step}); });
    CHECK(is_likely(before - waiting.size(), before, 0.25));
  }
}

TEST_CASE("probability: keys, tables, steps and seeds draw independently of each other") {
  auto const seed = some_seed();
  CAPTURE(seed);
  constexpr std::size_t pairs = 100'000;
  probability::state<narrow::key> const state(probability{.of = 0.5F, .seed = seed});
  probability::state<narrow::key> const other(probability{.of = 0.5F, .seed = seed + 1});
  std::size_t same[4] = {};
  for (std::uint64_t id = 0; id < pairs; ++id) {
    auto const key = narrow::pack(inlay::table_id{0}, 2 * id);
    auto const first = state.admit(key, 1, step_id{3});
    same[0] += first == state.admit({key.bits + 1}, 1, step_id{3}) ? 1U : 0U;
    same[1] += first == state.admit(narrow::pack(inlay::table_id{1}, 2 * id), 1, step_id{3});
    same[2] += first == state.admit(key, 1, step_id{4}) ? 1U : 0U;
    same[3] += first == other.admit(key, 1, step_id{3}) ? 1U : 0U;
  }
  for (auto const agreed : same) {
    CHECK(is_likely(agreed, pairs, 0.5));
  }
}

TEST_CASE("probability: more occurrences never turn an admission into a refusal") {
  probability::state<narrow::key> const state(probability{.of = 0.1F});
  for (std::uint64_t id = 0; id < 2000; ++id) {
    bool before = false;
    for (std::uint32_t count = 1; count < 60; ++count) {
      auto const now = state.admit({id}, count, step_id{});
      REQUIRE((now || !before));
      before = now;
    }
  }
}

TEST_CASE("probability: nought admits nobody and one everybody, any number of times") {
  probability::state<narrow::key> const never(probability{.of = 0.0F});
  probability::state<narrow::key> const always(probability{.of = 1.0F});
  for (std::uint64_t id = 0; id < 20'000; ++id) {
    REQUIRE_FALSE(never.admit({id}, ~std::uint32_t{0}, step_id{1}));
    REQUIRE(always.admit({id}, 1, step_id{1}));
  }
}

TEST_CASE("probability: the draws are those that they always were") {
  probability::state<narrow::key> const state(probability{.of = 0.5F, .seed = 1});
  std::uint64_t drawn = 0;
  for (std::uint64_t id = 0; id < 64; ++id) {
    drawn = drawn << 1U | (state.admit({id}, 1, step_id{7}) ? 1U : 0U);
  }
  CHECK(drawn == 0x18d6465dde733b0cU);
}

TEST_CASE("probability: a chance outside of nought to one is refused in words") {
  CHECK_NOTHROW(probability{}.check());
  auto const huge = std::numeric_limits<float>::infinity();
  for (float const of : {-0.001F, 1.001F, std::nanf(""), huge, -huge}) {
    CHECK_THROWS_WITH_AS(probability{.of = of}.check(),
                         doctest::Contains("must be between 0 and 1"), inlay::error);
    CHECK_THROWS_AS(probability::state<narrow::key>(probability{.of = of}), inlay::error);
  }
}
