#include <inlay/batch/loader.hpp>

#include "files.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <numeric>
#include <random>
#include <set>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

using inlay::loader;
using inlay::sample_range;

namespace {

/// One field whose id is the sample's number; fails, waits and counts on demand.
struct numbers_source {
  std::uint64_t samples = 100;
  std::uint64_t bad_sample = ~std::uint64_t{0};
  std::chrono::microseconds pause{0};
  mutable std::atomic<std::uint64_t> reads = 0;

  [[nodiscard]] std::uint64_t size() const { return samples; }
  [[nodiscard]] std::size_t fields() const { return 1; }
  [[nodiscard]] std::size_t dense_width() const { return 0; }

  void read(inlay::span<std::uint64_t const> wanted, inlay::batch& into) const {
    ++reads;
    if (pause.count() > 0) {
      std::this_thread::sleep_for(pause);
    }
    into.reset({.rows = wanted.size(), .fields = 1});
    for (std::size_t at = 0; at < wanted.size(); ++at) {
      if (wanted[at] == bad_sample) {
        throw std::runtime_error("sample " + std::to_string(bad_sample) + " is bad");
      }
      into.ids()[at] = wanted[at];
      into.labels()[at] = 0;
    }
  }
};

std::vector<std::uint64_t> counted(std::uint64_t count) {
  std::vector<std::uint64_t> samples(count);
  std::iota(samples.begin(), samples.end(), std::uint64_t{0});
  return samples;
}

std::vector<std::uint64_t> read_ids(loader& from, sample_range const& range) {
  auto const view = from.read(range);
  check(view);
  return {view.ids.begin(), view.ids.end()};
}

std::vector<std::uint64_t> expected_ids(loader const& from, sample_range const& range) {
  std::vector<std::uint64_t> ids;
  for (auto position = range.first; position < range.last; ++position) {
    ids.push_back(from.sample(position));
  }
  return ids;
}

std::string standard_error_of(loader& from, sample_range const& range) {
  try {
    static_cast<void>(from.read(range));
  } catch (std::runtime_error const& failure) {
    return failure.what();
  }
  return {};
}

static_assert(!std::is_copy_constructible_v<loader> && !std::is_move_constructible_v<loader>);
// A temporary source would be gone before the first read.
static_assert(!std::is_constructible_v<loader, numbers_source, std::vector<std::uint64_t>>);

}  // namespace

TEST_CASE("loader: each epoch meets each sample once, in another order") {
  numbers_source const source;
  loader from{source, counted(100), {.seed = 5, .epochs = 3}};
  REQUIRE(from.size() == 300);
  std::set<std::vector<std::uint64_t>> orders;
  for (std::uint64_t epoch = 0; epoch < 3; ++epoch) {
    auto ids = read_ids(from, {epoch * 100, (epoch + 1) * 100});
    orders.insert(ids);
    std::sort(ids.begin(), ids.end());
    CHECK(ids == counted(100));
  }
  CHECK(orders.size() == 3);
}

TEST_CASE("loader: the given order is kept where nothing is shuffled") {
  numbers_source const source;
  std::vector<std::uint64_t> const samples{5, 3, 8};
  loader from{source, samples, {.epochs = 2, .order = inlay::sample_order::given}};
  CHECK(read_ids(from, {0, 3}) == samples);
  CHECK(read_ids(from, {2, 5}) == std::vector<std::uint64_t>{8, 5, 3});
}

TEST_CASE("loader: the same position is the same sample whatever the ranges and threads") {
  numbers_source const source;
  auto const seed = fresh_seed("loader ranges");
  std::mt19937_64 random(seed);
  for (std::size_t const ahead : {0U, 1U, 3U}) {
    loader from{source, counted(37), {.seed = seed, .epochs = 40, .read_ahead = ahead}};
    std::uint64_t position = 0;
    std::uint64_t length = 1;
    for (int round = 0; round < 2000; ++round) {
      if (random() % 5 == 0) {
        position = random() % (from.size() + 1);
      }
      if (random() % 5 == 0) {
        length = random() % 50;
      }
      sample_range const range{position, std::min(position + length, from.size())};
      REQUIRE((read_ids(from, range) == expected_ids(from, range)));
      position = range.last;
    }
  }
}

TEST_CASE("loader: following ranges are read ahead, the last one cut short") {
  numbers_source const source;
  loader from{source, counted(100), {.read_ahead = 2}};
  for (std::uint64_t first = 0; first < 100; first += 32) {
    sample_range const range{first, std::min<std::uint64_t>(first + 32, 100)};
    CHECK(read_ids(from, range) == expected_ids(from, range));
  }
  // Each range was read once: by the caller the first, by the thread the others.
  CHECK(source.reads == 4);
  CHECK(read_ids(from, {100, 100}).empty());
}

TEST_CASE("loader: without a thread nothing is read that was not asked for") {
  numbers_source const source;
  loader from{source, counted(100), {.read_ahead = 0}};
  CHECK(source.reads == 0);
  static_cast<void>(from.read({0, 10}));
  static_cast<void>(from.read({10, 20}));
  CHECK(source.reads == 2);
}

TEST_CASE("loader: an error of the source reaches the call that asks for the range, and can be "
          "repeated") {
  for (std::size_t const ahead : {0U, 1U, 2U}) {
    numbers_source const source{.bad_sample = 25};
    loader from{source, counted(100), {.read_ahead = ahead, .order = inlay::sample_order::given}};
    CHECK(standard_error_of(from, {0, 10}).empty());
    CHECK(standard_error_of(from, {10, 20}).empty());
    CHECK(standard_error_of(from, {20, 30}) == "sample 25 is bad");
    CHECK(standard_error_of(from, {20, 30}) == "sample 25 is bad");
    CHECK(read_ids(from, {30, 40}) == expected_ids(from, {30, 40}));
    CHECK(read_ids(from, {40, 50}) == expected_ids(from, {40, 50}));
    CHECK(standard_error_of(from, {25, 26}) == "sample 25 is bad");
    CHECK(read_ids(from, {26, 27}) == expected_ids(from, {26, 27}));
  }
}

TEST_CASE("loader: it stops cleanly at any moment") {
  auto const seed = fresh_seed("loader stops");
  std::mt19937_64 random(seed);
  for (int round = 0; round < 200; ++round) {
    numbers_source const source{.bad_sample = random() % 200,
                                .pause = std::chrono::microseconds(random() % 200)};
    loader from{source, counted(100), {.seed = random(), .epochs = 3, .read_ahead = random() % 4}};
    std::uint64_t position = 0;
    for (auto reads = random() % 6; reads > 0; --reads) {
      position = random() % 4 == 0 ? random() % 250 : position;
      static_cast<void>(standard_error_of(from, {position, position + 25}));
      position = std::min<std::uint64_t>(position + 25, 250);
    }
    if (random() % 2 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(random() % 300));
    }
  }
}

TEST_CASE("loader: nothing to read is legal, what is not there is refused in words") {
  numbers_source const source;
  loader none{source, {}};
  CHECK(none.size() == 0);
  auto const view = none.read({0, 0});
  check(view);
  CHECK(view.rows == 0);
  CHECK(sentence_of([&] { static_cast<void>(none.read({0, 1})); }) ==
        "positions 0 to 1 were asked of a loader of 0");
  loader from{source, counted(10)};
  CHECK(sentence_of([&] { static_cast<void>(from.read({5, 4})); }) ==
        "positions 5 to 4 were asked of a loader of 10");
  CHECK(sentence_of([&] { loader const beyond{source, {99, 100}}; }) ==
        "sample 100 is listed, but the source has only 100");
  CHECK(sentence_of([&] { loader const endless{source, counted(10), {.epochs = ~0ULL}}; }) ==
        "a loader has fewer than 2^64 positions");
}
