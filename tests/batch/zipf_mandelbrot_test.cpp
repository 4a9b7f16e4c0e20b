#include <inlay/batch/zipf_mandelbrot.hpp>

#include "files.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace {

/// How far counts of draws are from what is expected of them, in standard deviations of chi-square;
/// ranks that are expected fewer than ten times are counted together.
double deviation(std::uint32_t ranks, double shift, double exponent) {
  constexpr std::uint64_t draws = 200'000;
  inlay::zipf_mandelbrot const distribution(ranks, shift, exponent);
  std::vector<double> counts(ranks + 1, 0.0);
  for (std::uint64_t draw = 0; draw < draws; ++draw) {
    auto const rank = distribution(inlay::random_stream{inlay::mix(7, draw)}, 0);
    counts.at(rank) += 1;
  }
  REQUIRE(counts[0] == 0);
  double total = 0;
  for (std::uint32_t rank = 1; rank <= ranks; ++rank) {
    total += distribution.height(rank);
  }
  double chi_square = 0;
  double cells = 0;
  double expected = 0;
  double seen = 0;
  for (std::uint32_t rank = 1; rank <= ranks; ++rank) {
    expected += distribution.height(rank) / total * draws;
    seen += counts[rank];
    if (expected >= 10 || rank == ranks) {
      chi_square += (seen - expected) * (seen - expected) / expected;
      cells += 1;
      expected = 0;
      seen = 0;
    }
  }
  return cells < 2 ? 0 : (chi_square - (cells - 1)) / std::sqrt(2 * (cells - 1));
}

}  // namespace

TEST_CASE("zipf: ranks occur as often as the formula says") {
  CHECK(deviation(1, 0, 1) == 0);
  CHECK(std::abs(deviation(2, 0, 3)) < 4);
  CHECK(std::abs(deviation(3, 8, 0.5)) < 4);
  CHECK(std::abs(deviation(26, 1, 3)) < 4);
  CHECK(std::abs(deviation(582, 32, 2.45)) < 4);
  CHECK(std::abs(deviation(12'516, 64, 1.25)) < 4);
  CHECK(std::abs(deviation(100'000, 0, 1)) < 4);
  CHECK(std::abs(deviation(54'612, 1, 1.05)) < 4);
  CHECK(std::abs(deviation(5'000, 3, 1.0001)) < 4);
  CHECK(std::abs(deviation(2'000, 1000, 6)) < 4);
}

TEST_CASE("zipf: settings without a meaning are refused in words") {
  CHECK(sentence_of([] { inlay::zipf_mandelbrot const none(0, 0, 1); }) ==
        "a distribution of ranks needs at least one");
  CHECK(sentence_of([] { inlay::zipf_mandelbrot const shifted(5, -1, 1); }) ==
        "the shift of a Zipf-Mandelbrot distribution must not be negative");
  CHECK(sentence_of([] { inlay::zipf_mandelbrot const flat(5, 0, 0); }) ==
        "the exponent of a Zipf-Mandelbrot distribution must be positive");
}
