#include <inlay/optim/ftrl.hpp>

#include "optim/plain.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

namespace {

using inlay::ftrl;

TEST_CASE("ftrl: the laws of a row optimizer hold, and columns don't depend on the width") {
  plain::check_laws(ftrl{});
  plain::check_laws(ftrl{.learning_rate = 0.5F, .beta = 0.1F, .l1 = 0.3F, .l2 = 0.1F});
  inlay::testing::check_columns(ftrl{.l1 = 0.5F, .l2 = 0.1F});
}

/// Algorithm 1 of the paper, with the sign where others have signbit.
void follow(plain::row& row, std::vector<float> const& gradient, ftrl const& knobs) {
  auto const dim = row.weights.size();
  auto const rate = knobs.learning_rate * row.factor;
  for (std::size_t i = 0; i < dim; ++i) {
    auto& n = row.state[i];
    auto& z = row.state[dim + i];
    z /= rate;
    double const g = gradient[i];
    auto const sigma = (std::sqrt(n + g * g) - std::sqrt(n)) / rate;
    n += g * g;
    z += g - sigma * row.weights[i];
    double const sign = z > 0 ? 1.0 : -1.0;
    row.weights[i] = std::abs(z) <= knobs.l1
                         ? 0.0
                         : (sign * knobs.l1 - z) / ((knobs.beta + std::sqrt(n)) / rate + knobs.l2);
    z *= rate;
  }
}

TEST_CASE("ftrl: the formula of the paper, with l1 and without") {
  for (auto const l1 : {0.0F, 0.4F, 2.0F}) {
    for (auto const dim : plain::dims) {
      ftrl const knobs{.learning_rate = 0.3F, .beta = 0.5F, .l1 = l1, .l2 = 0.2F};
      plain::compare(knobs, dim,
                     [&](auto& row, auto const& gradient) { follow(row, gradient, knobs); },
                     {0.5F, 0.5F});
    }
  }
}

TEST_CASE("ftrl: l1 shrinks weights of either sign alike, and to zero within it") {
  // With signbit in place of the sign, a positive z is not shrunk and a negative one expands.
  for (auto const slope : {0.3F, 1.0F, 4.0F}) {
    for (auto const l1 : {0.1F, 0.5F, 2.0F}) {
      plain::single up(ftrl{.l1 = l1}, 0.0F);
      plain::single down(ftrl{.l1 = l1}, 0.0F);
      plain::single free(ftrl{}, 0.0F);
      auto const raised = up.move(-slope);
      auto const lowered = down.move(slope);
      auto const unshrunk = free.move(slope);
      CHECK(raised == -lowered);
      CHECK(lowered == doctest::Approx(slope <= l1 ? 0.0 : unshrunk * (slope - l1) / slope));
      CHECK(lowered <= 0.0F);
      if (slope <= l1) CHECK(lowered == 0.0F);
    }
  }
}

TEST_CASE("ftrl: a change of the rate moves no row that has no gradient; at zero nothing moves") {
  plain::single row(ftrl{}, 0.0F);
  row.move(1.0F);
  auto const before = row.move(-0.3F, 1);
  for (auto const factor : {0.5F, 2.0F, 0.01F}) {
    CHECK(row.move(0.0F, 2, factor) == doctest::Approx(before).epsilon(1e-6));
  }
  auto const weight = row.weights;
  auto const state = row.state;
  row.move(5.0F, 3, 0.0F);
  CHECK(row.weights == weight);
  CHECK(row.state == state);
}

TEST_CASE("ftrl: knobs without sense are refused") {
  CHECK_THROWS_WITH_AS(ftrl{.beta = 0.0F}.check(), doctest::Contains("ftrl's beta"), inlay::error);
  CHECK_THROWS_AS(ftrl{.l1 = -1.0F}.check(), inlay::error);
  CHECK_THROWS_AS(ftrl{.l2 = std::numeric_limits<float>::infinity()}.check(), inlay::error);
  CHECK_THROWS_AS(ftrl{.learning_rate = -1.0F}.check(), inlay::error);
  CHECK_NOTHROW(ftrl{}.check());
}

}  // namespace
