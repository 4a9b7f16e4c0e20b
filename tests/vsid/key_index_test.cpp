#include <inlay/vsid/key_index.hpp>

#include "failing_new.hpp"

#include <inlay/core/error.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/random.hpp>
#include <inlay/testing/trial.hpp>
#include <inlay/vsid/keys.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <stdexcept>
#include <unordered_map>
#include <utility>
#include <vector>

using inlay::host_exec;
using inlay::key_index;
using inlay::narrow;
using inlay::span;

namespace {

/// A key whose hash is what the test wants it to be: all equal, few, at the ends, or good.
struct shaped_key {
  std::uint64_t bits = 0;
  [[nodiscard]] friend bool operator==(shaped_key, shaped_key) noexcept = default;
};

enum class shape { good, all_equal, three_homes, last_place, first_and_last, crowds };
shape shape_now = shape::good;

std::uint64_t hash(shaped_key key) {
  constexpr auto end = ~std::uint64_t{0};
  switch (shape_now) {
  case shape::all_equal:
    return end / 2;
  case shape::three_homes:
    return (key.bits % 3) << 62U;
  case shape::last_place:
    return end;
  case shape::first_and_last:
    return key.bits % 2 == 0 ? 0 : end;
  case shape::crowds:
    return inlay::mix(key.bits % 3000);
  default:
    return inlay::mix(key.bits);
  }
}

using oracle_map = std::unordered_map<std::uint64_t, std::uint32_t>;

void check_equal(key_index<shaped_key> const& index, oracle_map const& oracle) {
  REQUIRE(index.size() == oracle.size());
  std::size_t seen = 0;
  std::size_t wrong = 0;
  index.for_each([&](shaped_key key, std::uint32_t number) {
    ++seen;
    wrong += oracle.at(key.bits) == number ? 0U : 1U;
  });
  CHECK(seen == oracle.size());
  for (auto const& [bits, number] : oracle) {
    wrong += index.find({bits}) == number ? 0U : 1U;
  }
  CHECK(wrong == 0);
}

/// Five narrow keys lie in a line of 64 bytes.
std::size_t places(key_index<narrow::key> const& index) { return index.bytes() / 64 * 5; }

/// Keys of a small range, and some at both ends of 64 bits.
shaped_key some_key(std::uint64_t random, std::uint64_t range) {
  auto const bits = (random >> 8U) % range;
  return {random % 16 == 0 ? ~bits : bits};
}

void random_step(key_index<shaped_key>& index, oracle_map& oracle, std::uint64_t random,
                 std::uint64_t range) {
  auto const key = some_key(inlay::mix(random), range);
  auto const number = static_cast<std::uint32_t>(random >> 40U);
  switch (random % 4) {
  case 0: {
    auto const [at, is_new] = oracle.try_emplace(key.bits, number);
    auto const got = index.find_or_insert(key, number);
    CHECK(got.is_new == is_new);
    CHECK(got.number == at->second);
    break;
  }
  case 1:
    CHECK(index.erase(key) == (oracle.erase(key.bits) != 0));
    break;
  case 2: {
    auto const at = oracle.find(key.bits);
    CHECK(index.find(key) == (at == oracle.end() ? index.absent : at->second));
    break;
  }
  default: {
    std::vector<shaped_key> keys;
    for (std::uint64_t i = 0; i < random / 4 % 50; ++i) {
      keys.push_back(some_key(inlay::mix(random, i), range));
    }
    auto fresh = number;
    index.find_or_insert_each(
        span<shaped_key const>(keys.data(), keys.size()), [&] { return fresh++; },
        [&](std::size_t i, std::uint32_t got, bool is_new) {
          auto const [at, wanted] = oracle.try_emplace(keys[i].bits, got);
          CHECK(is_new == wanted);
          CHECK(at->second == got);
        });
  }
  }
}

/// Puts keys in until there are old lines beside the new ones.
void fill_until_keys_move(key_index<shaped_key>& index, oracle_map& oracle) {
  for (std::uint32_t n = 0;; ++n) {
    auto const before = index.bytes();
    index.find_or_insert({n}, n);
    oracle.emplace(n, n);
    if (n > 60'000 && index.bytes() > 2 * before) return;
  }
}

}  // namespace

TEST_CASE("key_index: equals std::unordered_map under random traffic, however keys collide") {
  for (auto const how : {shape::good, shape::all_equal, shape::three_homes, shape::last_place,
                         shape::first_and_last}) {
    shape_now = how;
    auto const long_chains = how != shape::good;
    for (std::uint64_t seed = 1; seed <= 8; ++seed) {
      CAPTURE(static_cast<int>(how));
      CAPTURE(seed);
      inlay::random_stream const random{inlay::mix(seed)};
      key_index<shaped_key> index;
      oracle_map oracle;
      auto const range = 1 + random.bits(0) % (long_chains ? 60 : 2000);
      for (std::uint64_t n = 1; n < 3000; ++n) {
        random_step(index, oracle, random.bits(n), range);
        if (n == 1500 && seed % 2 == 0) {
          index.clear();
          oracle.clear();
        }
      }
      check_equal(index, oracle);
      for (auto const& [bits, number] : oracle_map(oracle)) {
        CHECK(index.erase({bits}));
        oracle.erase(bits);
        if (oracle.size() % 64 == 0) check_equal(index, oracle);
      }
      CHECK(index.size() == 0);
    }
  }
  shape_now = shape::good;
}

TEST_CASE("key_index: keys at the ends of the range are keys like others") {
  key_index<narrow::key> index;
  std::vector<narrow::key> const keys = {
      {0},          {1}, {~std::uint64_t{0}}, {~std::uint64_t{0} - 1}, {std::uint64_t{1} << 63U},
      {0xffffffffU}};
  for (std::uint32_t n = 0; n < keys.size(); ++n) {
    CHECK(index.find(keys[n]) == index.absent);
    CHECK_FALSE(index.erase(keys[n]));
    CHECK(index.find_or_insert(keys[n], n).is_new);
  }
  for (std::uint32_t n = 0; n < keys.size(); ++n) {
    CHECK(index.find(keys[n]) == n);
  }
}

TEST_CASE("key_index: one key a million times takes one place") {
  key_index<narrow::key> index;
  std::vector<narrow::key> const keys(1'000'000, narrow::key{42});
  std::size_t fresh = 0;
  std::size_t visits = 0;
  index.find_or_insert_each(
      span<narrow::key const>(keys.data(), keys.size()), [] { return 7U; },
      [&](std::size_t i, std::uint32_t number, bool is_new) {
        visits += i == visits ? 1U : 0U;
        fresh += is_new ? 1U : 0U;
        if (number != 7) FAIL("another number");
      });
  CHECK(visits == keys.size());
  CHECK(fresh == 1);
  CHECK(index.size() == 1);
  CHECK(index.bytes() < 100'000);
}

TEST_CASE("key_index: more keys of one home than a line can count, put in and taken out again") {
  shape_now = shape::all_equal;
  constexpr std::uint64_t many = 12'000;
  key_index<shaped_key> index;
  for (int round = 0; round < 2; ++round) {
    std::vector<shaped_key> keys;
    for (std::uint64_t bits = 0; bits < many; ++bits) {
      keys.push_back({bits});
    }
    auto const all = span<shaped_key const>(keys.data(), keys.size());
    std::uint32_t fresh = 0;
    index.find_or_insert_each(
        all, [&] { return fresh++; }, [](std::size_t, std::uint32_t, bool) {});
    CHECK(index.size() == many);
    std::size_t wrong = 0;
    index.find_each(all, [&](std::size_t i, std::uint32_t number) { wrong += number != i; });
    CHECK(wrong == 0);
    CHECK(index.find({many}) == index.absent);
    index.erase_each(host_exec(1), all);
    CHECK(index.size() == 0);
    index.find_each(all,
                    [&](std::size_t, std::uint32_t number) { wrong += number != index.absent; });
    CHECK(wrong == 0);
    CHECK_FALSE(index.erase({many}));
  }
  shape_now = shape::good;
}

TEST_CASE("key_index: many days, of which no later one sees an earlier one's keys") {
  shape_now = shape::good;
  key_index<shaped_key> index;
  std::size_t wrong = 0;
  for (std::uint64_t day = 0; day < 200'000; ++day) {
    index.clear();
    wrong += index.find({day % 7}) != index.absent;
    wrong += !index.find_or_insert({day % 7}, 1).is_new;
    wrong += index.size() != 1;
  }
  CHECK(wrong == 0);
}

TEST_CASE("key_index: growth keeps every key, and keeps at most 5/8 of the places in use") {
  key_index<narrow::key> index;
  for (std::uint32_t n = 0; n < 200'000; ++n) {
    index.find_or_insert({inlay::mix(n)}, n);
    if ((n & (n - 1)) == 0) {
      CHECK(std::size_t{n} * 8 <= places(index) * 5);
    }
  }
  for (int call = 0; call < 20; ++call) {  // so that no keys are still to move
    index.find_or_insert_each(
        span<narrow::key const>(), [] { return 0U; }, [](std::size_t, std::uint32_t, bool) {});
  }
  CHECK(places(index) <= 2 * 200'000 + 5);
  std::size_t wrong = 0;
  for (std::uint32_t n = 0; n < 200'000; ++n) {
    wrong += index.find({inlay::mix(n)}) == n ? 0U : 1U;
  }
  CHECK(wrong == 0);
  std::vector<narrow::key> keys;
  for (std::uint32_t n = 0; n < 3000; ++n) {
    keys.push_back({inlay::mix(199'000 + n)});
  }
  index.find_each(span<narrow::key const>(keys.data(), keys.size()),
                  [&](std::size_t i, std::uint32_t number) {
                    auto const n = static_cast<std::uint32_t>(199'000 + i);
                    wrong += number == (n < 200'000 ? n : index.absent) ? 0U : 1U;
                  });
  CHECK(wrong == 0);
}

TEST_CASE("key_index: while keys move it is as ever, and the move ends without new keys") {
  for (auto const how : {shape::good, shape::crowds}) {
    shape_now = how;
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      CAPTURE(static_cast<int>(how));
      CAPTURE(seed);
      key_index<shaped_key> index;
      oracle_map oracle;
      fill_until_keys_move(index, oracle);
      auto const both = index.bytes();
      inlay::random_stream const random{inlay::mix(seed)};
      for (std::uint64_t n = 1; index.bytes() == both; ++n) {
        random_step(index, oracle, random.bits(n), 2 * oracle.size());
        if (n % 500 == 1) check_equal(index, oracle);
        if (n == 1000 && seed == 2) index = key_index<shaped_key>(std::move(index));
        REQUIRE(n < 10'000);
      }
      check_equal(index, oracle);
      for (std::uint64_t n = 0; n < 1000; ++n) {
        random_step(index, oracle, random.bits(n), 2 * oracle.size());
      }
      check_equal(index, oracle);
    }
  }
  shape_now = shape::good;
}

TEST_CASE("key_index: cleared, erased or made to grow again while keys move") {
  shape_now = shape::crowds;
  for (int what = 0; what < 4; ++what) {
    CAPTURE(what);
    key_index<shaped_key> index;
    oracle_map oracle;
    fill_until_keys_move(index, oracle);
    auto const both = index.bytes();
    index.find_or_insert({1}, 0);
    switch (what) {
    case 0:
      index.clear();
      oracle.clear();
      CHECK(index.bytes() < both);
      break;
    case 1: {
      std::vector<shaped_key> keys;
      for (auto const& [bits, number] : oracle) {
        if (bits % 3 == 0) keys.push_back({bits});
      }
      index.erase_each(host_exec(1), span<shaped_key const>(keys.data(), keys.size()));
      std::erase_if(oracle, [](auto const& entry) { return entry.first % 3 == 0; });
      break;
    }
    case 2:
      index.reserve(3 * oracle.size());
      break;
    default:
      CHECK(failing_new::fails(0, [&] { index.reserve(3 * oracle.size()); }));
    }
    check_equal(index, oracle);
    for (std::uint64_t n = 0; n < 3000; ++n) {
      random_step(index, oracle, inlay::mix(n), 100'000);
    }
    check_equal(index, oracle);
  }
  shape_now = shape::good;
}

TEST_CASE("key_index: keys that come and go in batches end a move, and never crowd the old lines") {
  key_index<shaped_key> index;
  oracle_map oracle;
  fill_until_keys_move(index, oracle);
  auto const moving = index.bytes();
  auto const room = oracle.size();
  // What has moved is forgotten, and what has not is joined by as many of the same upper hashes.
  std::vector<shaped_key> low;
  for (auto const& [bits, number] : oracle) {
    if (inlay::mix(bits) >> 63U == 0) low.push_back({bits});
  }
  index.erase_each(host_exec(1), span<shaped_key const>(low.data(), low.size()));
  std::vector<shaped_key> high;
  for (std::uint64_t bits = std::uint64_t{1} << 40U; high.size() < low.size(); ++bits) {
    if (inlay::mix(bits) >> 63U == 1) high.push_back({bits});
  }
  index.insert_each(host_exec(1), span<shaped_key const>(high.data(), high.size()),
                    [](std::size_t i) { return static_cast<std::uint32_t>(i); });
  CHECK(index.size() == room);
  CHECK(index.bytes() < moving);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < high.size(); ++i) {
    wrong += index.find(high[i]) == i ? 0U : 1U;
  }
  CHECK(wrong == 0);
}

TEST_CASE("key_index: put in and taken out by threads side by side, it is as by one") {
  for (auto const how : {shape::good, shape::all_equal, shape::three_homes, shape::last_place,
                         shape::first_and_last, shape::crowds}) {
    shape_now = how;
    for (std::size_t threads : {1U, 2U, 7U, 50U}) {
      CAPTURE(static_cast<int>(how));
      CAPTURE(threads);
      host_exec const exec(threads);
      inlay::testing::trial with("keys and numbers", threads);
      key_index<shaped_key> index;
      oracle_map oracle;
      for (int round = 0; round < 4; ++round) {
        std::vector<shaped_key> fresh;
        std::vector<std::uint32_t> numbers;
        while (fresh.size() < 5000) {
          shaped_key const key{with.below(std::size_t{1} << 40U)};
          auto const number = static_cast<std::uint32_t>(with.below(1U << 31U));
          if (!oracle.try_emplace(key.bits, number).second) continue;
          fresh.push_back(key);
          numbers.push_back(number);
        }
        if (round % 2 == 0) index.reserve(oracle.size());  // else it moves, or grows within
        index.insert_each(exec, span<shaped_key const>(fresh.data(), fresh.size()),
                          [&](std::size_t i) { return numbers[i]; });
        check_equal(index, oracle);
        std::vector<shaped_key> gone;
        for (auto const& [bits, number] : oracle) {
          if (number % 8 != 0) gone.push_back({bits});
        }
        index.erase_each(exec, span<shaped_key const>(gone.data(), gone.size()));
        std::erase_if(oracle, [](auto const& entry) { return entry.second % 8 != 0; });
        check_equal(index, oracle);
      }
    }
  }
  shape_now = shape::good;
}

TEST_CASE("key_index: a large one moves a bounded number of keys in a call") {
  key_index<narrow::key> index;
  std::uint32_t fresh = 0;
  std::vector<narrow::key> keys(1024);
  std::size_t calls_with_both = 0;
  std::size_t moves = 0;
  for (std::size_t before = 0; fresh < 1'024'000;) {
    for (std::uint32_t n = 0; n < keys.size(); ++n) {
      keys[n] = {inlay::mix(fresh + n)};
    }
    index.find_or_insert_each(
        span<narrow::key const>(keys.data(), keys.size()), [&] { return fresh++; },
        [](std::size_t, std::uint32_t, bool) {});
    moves += index.bytes() < before ? 1U : 0U;
    before = index.bytes();
    calls_with_both += places(index) > 5 * std::size_t{fresh} / 2 ? 1U : 0U;
  }
  CHECK(index.size() == 1'024'000);
  CHECK(moves > 5);
  CHECK(calls_with_both > 2 * moves);  // no call moves half of the keys...
  CHECK(calls_with_both < 1000 / 4);   // ...and most need no memory for two
}

TEST_CASE("key_index: one that was moved from is empty, and good for more") {
  for (std::uint32_t const count : {3U, 100U, 120'000U}) {
    CAPTURE(count);
    key_index<narrow::key> from;
    for (std::uint32_t n = 0; n < count; ++n) {
      from.find_or_insert({inlay::mix(n)}, n);
    }
    key_index<narrow::key> into(std::move(from));
    for (int round = 0; round < 2; ++round) {
      CHECK(from.size() == 0);
      CHECK(from.bytes() == 0);
      CHECK(from.find({inlay::mix(1)}) == from.absent);
      from.for_each([](narrow::key, std::uint32_t) { FAIL("there is nothing"); });
      CHECK(from.find_or_insert({inlay::mix(1)}, 5).is_new);
      CHECK(into.size() == count);
      CHECK(into.find({inlay::mix(1)}) == 1);
      from = std::move(into);
      std::swap(from, into);
      from = {};
    }
  }
}

TEST_CASE("key_index: an empty one finds nothing and can be cleared and walked") {
  key_index<narrow::key> index;
  index.clear();
  index.reserve(0);
  CHECK(index.find({0}) == index.absent);
  CHECK(index.bytes() == 0);
  index.for_each([](narrow::key, std::uint32_t) { FAIL("there is nothing"); });
  std::vector<narrow::key> const keys(5);
  std::size_t visits = 0;
  index.find_each(span<narrow::key const>(keys.data(), keys.size()),
                  [&](std::size_t, std::uint32_t number) {
                    ++visits;
                    CHECK(number == index.absent);
                  });
  CHECK(visits == 5);
}

TEST_CASE("key_index: when memory runs out while it grows, it is as before") {
  shape_now = shape::good;
  for (std::size_t size : {0U, 10U, 40U, 80U, 160U}) {
    key_index<shaped_key> index;
    oracle_map oracle;
    for (std::uint32_t n = 0; n < size; ++n) {
      index.find_or_insert({n}, n);
      oracle.emplace(n, n);
    }
    auto const bytes = index.bytes();
    CHECK(failing_new::fails(0, [&] { index.reserve(10 * size + 20); }));
    check_equal(index, oracle);
    CHECK(index.bytes() == bytes);
    if (failing_new::fails(0, [&] { index.find_or_insert({size}, 7); })) {
      check_equal(index, oracle);
    }
    index.find_or_insert({size + 1}, 8);  // and it still works
    CHECK(index.find({size + 1}) == 8);
  }
}

TEST_CASE("key_index: an exception of the caller leaves the keys before it") {
  shape_now = shape::good;
  key_index<shaped_key> index;
  std::vector<shaped_key> const keys = {{5}, {6}, {5}, {7}};
  std::uint32_t fresh = 0;
  CHECK_THROWS_AS(index.find_or_insert_each(
                      span<shaped_key const>(keys.data(), keys.size()),
                      [&] { return fresh < 2 ? fresh++ : throw std::runtime_error("no more"); },
                      [](std::size_t, std::uint32_t, bool) {}),
                  std::runtime_error);
  check_equal(index, {{5, 0}, {6, 1}});
}

TEST_CASE("key_index: more keys than 32 bits number are an error in words") {
  key_index<narrow::key> index;
  CHECK_THROWS_WITH_AS(index.reserve(std::size_t{1} << 32U), doctest::Contains("2^32 - 2 keys"),
                       inlay::error);
}
