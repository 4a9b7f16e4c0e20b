#include <inlay/core/error.hpp>
#include <inlay/table/normal.hpp>
#include <inlay/table/uniform.hpp>
#include <inlay/table/zeros.hpp>
#include <inlay/testing/initialiser_laws.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

using inlay::random_stream;
using inlay::span;

namespace {

constexpr inlay::testing::weight_moments of_uniform{.deviation = 0.57735026919, .largest = 1};
constexpr inlay::testing::weight_moments of_normal{.deviation = 1, .largest = 6};

/// Leaves the scale out.
struct unscaled {
  void fill(random_stream random, float, span<float> weights) const noexcept {
    inlay::uniform{}.fill(random, 1.0F, weights);
  }
};

/// Gives every row the same weights in its second column.
struct stuck_column {
  void fill(random_stream random, float scale, span<float> weights) const noexcept {
    inlay::uniform{}.fill(random, scale, weights);
    if (weights.size() > 1) weights[1] = 0.25F * scale;
  }
};

/// Weights that depend on the width.
struct fan_in {
  void fill(random_stream random, float scale, span<float> weights) const noexcept {
    inlay::normal{}.fill(random, scale / std::sqrt(static_cast<float>(weights.size())), weights);
  }
};

}  // namespace

TEST_CASE("initialisers: uniform, normal and zeros keep the laws") {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    inlay::testing::check_initialiser(inlay::uniform{}, of_uniform, seed);
    inlay::testing::check_initialiser(inlay::normal{}, of_normal, seed);
    inlay::testing::check_initialiser(inlay::zeros{}, {.deviation = 0, .largest = 0}, seed);
  }
}

TEST_CASE("initialisers: a uniform weight is in [-scale, scale), at any scale") {
  for (float const scale : {1.0F, 0.01F, 3e-38F, 1e38F}) {
    for (std::uint64_t key = 0; key < 2000; ++key) {
      for (auto const weight : inlay::testing::filled(inlay::uniform{}, key, scale, 4)) {
        REQUIRE((weight >= -scale && weight < scale));
      }
    }
  }
}

TEST_CASE("initialisers: the weights are those that they always were") {
  auto const flat = inlay::testing::filled(inlay::uniform{}, 0, 1.0F, 2);
  CHECK(flat[0] == 0x1.8882ap-1F);
  auto const bell = inlay::testing::filled(inlay::normal{}, 0, 1.0F, 2);
  CHECK(bell[0] == inlay::random_stream{0}.normal(0));
}

TEST_CASE("initialiser laws: one that breaks a law is found, with the law and the seed") {
  CHECK_THROWS_WITH_AS(inlay::testing::check_initialiser(unscaled{}, of_uniform, 2),
                       doctest::Contains("proportional to the scale (seed 2)"), inlay::error);
  CHECK_THROWS_WITH_AS(inlay::testing::check_initialiser(stuck_column{}, of_uniform, 2),
                       doctest::Contains("the mean of the weights"), inlay::error);
  CHECK_THROWS_WITH_AS(inlay::testing::check_initialiser(fan_in{}, of_normal, 2),
                       doctest::Contains("width of its row"), inlay::error);
  CHECK_THROWS_WITH_AS(inlay::testing::check_initialiser(inlay::uniform{}, of_normal, 2),
                       doctest::Contains("standard deviation"), inlay::error);
}
