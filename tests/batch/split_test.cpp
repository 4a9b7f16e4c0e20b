#include <inlay/batch/split.hpp>

#include "files.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

namespace {

using numbers = std::vector<std::uint64_t>;

struct plain_source {
  std::uint64_t samples;
  [[nodiscard]] std::uint64_t size() const { return samples; }
};

struct dated_source {
  std::vector<std::int64_t> times;
  [[nodiscard]] std::uint64_t size() const { return times.size(); }
  [[nodiscard]] std::int64_t timestamp(std::uint64_t sample) const { return times[sample]; }
};

numbers all_of(inlay::sample_split const& split) {
  auto all = split.train;
  all.insert(all.end(), split.test.begin(), split.test.end());
  std::sort(all.begin(), all.end());
  return all;
}

}  // namespace

TEST_CASE("split: by chance each sample is in one of two lists, the same for the same seed") {
  for (std::uint64_t const samples : {0U, 1U, 2U, 5U, 1000U}) {
    auto const split = inlay::split_by_chance(samples, 9);
    CHECK(split.train.size() == samples * 8 / 10);
    auto const all = all_of(split);
    REQUIRE(all.size() == samples);
    for (std::uint64_t at = 0; at < samples; ++at) {
      CHECK(all[at] == at);
    }
    CHECK(inlay::split_by_chance(samples, 9).test == split.test);
  }
  CHECK(inlay::split_by_chance(1000, 10).test != inlay::split_by_chance(1000, 9).test);
  CHECK(inlay::split_by_chance(1000, 10, 0.5).test.size() == 500);
}

TEST_CASE("split: by time the first samples train") {
  auto const split = inlay::split_by_time(plain_source{10});
  CHECK(split.train == numbers{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(split.test == numbers{8, 9});
}

TEST_CASE("split: timestamps order samples where there are some, ties by number") {
  auto const split = inlay::split_by_time(dated_source{{5, -1, 5, 3, 5}}, 0.6);
  CHECK(split.train == numbers{1, 3, 0});
  CHECK(split.test == numbers{2, 4});
}

TEST_CASE("split: all or none may train, more may not") {
  CHECK(inlay::split_by_time(plain_source{3}, 1).test.empty());
  CHECK(inlay::split_by_time(plain_source{3}, 0).train.empty());
  auto const sentence = "the share of samples to train on must lie from 0 to 1";
  CHECK(sentence_of([] { static_cast<void>(inlay::split_by_chance(3, 1, 1.5)); }) == sentence);
  CHECK(sentence_of([] { static_cast<void>(inlay::split_by_time(plain_source{3}, -0.5)); }) ==
        sentence);
}
