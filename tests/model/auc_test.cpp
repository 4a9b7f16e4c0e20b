#include <inlay/model/auc.hpp>

#include <inlay/core/error.hpp>
#include <inlay/core/random.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

using inlay::auc;

inlay::span<float const> view(std::vector<float> const& values) {
  return {values.data(), values.size()};
}

double area(std::vector<float> const& scores, std::vector<float> const& labels) {
  return auc(view(scores), view(labels));
}

/// Every pair of a positive and a negative row, a tie counting half.
double auc_by_definition(std::vector<float> const& scores, std::vector<float> const& labels) {
  double wins = 0;
  double pairs = 0;
  for (std::size_t positive = 0; positive < scores.size(); ++positive) {
    for (std::size_t negative = 0; negative < scores.size(); ++negative) {
      if (labels[positive] == 1 && labels[negative] == 0) {
        pairs += 1;
        wins += scores[positive] > scores[negative]    ? 1
                : scores[positive] == scores[negative] ? 0.5
                                                       : 0;
      }
    }
  }
  return wins / pairs;
}

}  // namespace

TEST_CASE("auc equals its definition by pairs on random scores with ties") {
  for (std::uint64_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    inlay::random_stream const stream{seed};
    auto const rows = 2 + stream.bits(0) % 300;
    auto const levels = 1 + stream.bits(1) % 40;  // few levels: many ties
    std::vector<float> scores(rows);
    std::vector<float> labels(rows);
    for (std::size_t row = 0; row < rows; ++row) {
      scores[row] = static_cast<float>(stream.bits(2 + 2 * row) % levels) - 10.0F;
      labels[row] = stream.uniform(3 + 2 * row) < 0.3F ? 1.0F : 0.0F;
    }
    labels[0] = 1;
    labels[1] = 0;
    CHECK(area(scores, labels) == auc_by_definition(scores, labels));
  }
}

TEST_CASE("auc of a perfect, a reversed and a constant score") {
  CHECK(area({1, 2, 3, 4}, {0, 0, 1, 1}) == 1);
  CHECK(area({1, 2, 3, 4}, {1, 1, 0, 0}) == 0);
  CHECK(area({5, 5, 5}, {1, 0, 1}) == 0.5);
}

TEST_CASE("auc: 0 and -0 tie, infinities and denormals have their place") {
  constexpr auto infinity = std::numeric_limits<float>::infinity();
  CHECK(area({0.0F, -0.0F}, {1, 0}) == 0.5);
  CHECK(area({-infinity, -1e-45F, 1e-45F, infinity}, {0, 0, 1, 1}) == 1);
  CHECK(area({infinity, infinity}, {1, 0}) == 0.5);
}

TEST_CASE("auc refuses one class, NaN and labels other than 0 and 1, in words") {
  CHECK_THROWS_WITH_AS(static_cast<void>(area({1, 2}, {1, 1})),
                       doctest::Contains("there are 2 positive and 0 negative"), inlay::error);
  CHECK_THROWS_WITH_AS(static_cast<void>(area({}, {})),
                       doctest::Contains("there are 0 positive and 0 negative"), inlay::error);
  CHECK_THROWS_WITH_AS(
      static_cast<void>(area({1, std::numeric_limits<float>::quiet_NaN()}, {1, 0})),
      doctest::Contains("score 1 is NaN"), inlay::error);
  CHECK_THROWS_WITH_AS(static_cast<void>(area({1, 2}, {0.5F, 0})), doctest::Contains("label 0"),
                       inlay::error);
  CHECK_THROWS_AS(static_cast<void>(area({1, 2}, {0})), inlay::error);
}
