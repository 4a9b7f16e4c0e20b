#include <inlay/optim/adam.hpp>

#include "optim/plain.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>

namespace {

using inlay::adam;
using clock_of = adam::clock;

TEST_CASE("adam: the laws of a row optimizer hold, and columns don't depend on the width") {
  for (auto const clock : {clock_of::row, clock_of::global}) {
    plain::check_laws(adam{.bias_clock = clock});
    plain::check_laws(adam{.learning_rate = 0.1F, .epsilon = 1e-4F, .bias_clock = clock});
    inlay::testing::check_columns(adam{.learning_rate = 0.1F, .bias_clock = clock});
  }
}

TEST_CASE("adam: the formula of the paper, epsilon behind the correction, by either clock") {
  constexpr double beta1 = 0.8F;
  constexpr double beta2 = 0.99F;
  for (auto const clock : {clock_of::row, clock_of::global}) {
    for (auto const dim : plain::dims) {
      auto const formula = [&](plain::row& row, auto const& gradient) {
        auto* const m = row.state.data();
        auto* const v = m + dim;
        auto const t = static_cast<double>(row.step + 1);  // the row is in every step
        auto const seen1 = 1.0 - std::pow(beta1, t);
        auto const seen2 = 1.0 - std::pow(beta2, t);
        for (std::size_t i = 0; i < dim; ++i) {
          double const g = gradient[i];
          m[i] = beta1 * m[i] + (1.0 - beta1) * g;
          v[i] = beta2 * v[i] + (1.0 - beta2) * g * g;
          row.weights[i] -=
              double{0.05F} * row.factor * (m[i] / seen1) / (std::sqrt(v[i] / seen2) + 0.25);
        }
        if (clock == clock_of::row) {
          v[dim] = seen1;
          v[dim + 1] = seen2;
        }
      };
      plain::compare(adam{.learning_rate = 0.05F,
                          .beta1 = 0.8F,
                          .beta2 = 0.99F,
                          .epsilon = 0.25F,
                          .bias_clock = clock},
                     dim, formula);
    }
  }
}

TEST_CASE("adam: the first step of a row is one learning rate by the row's clock") {
  // Powers that are multiplied before their first use would correct by beta^2: 0.74 lr.
  for (auto const slope : {-1000.0F, -1.0F, -1e-4F, 1e-4F, 0.5F, 3e6F}) {
    for (std::int64_t const step : {0, 1, 1'000'000}) {
      plain::single row(adam{.learning_rate = 0.01F}, 0.0F);
      CHECK(row.move(slope, step) ==
            doctest::Approx(std::copysign(0.01, -slope)).scale(0).epsilon(2e-4));
    }
    plain::single row(adam{.learning_rate = 0.01F, .bias_clock = clock_of::global}, 0.0F);
    CHECK(row.move(slope) == doctest::Approx(std::copysign(0.01, -slope)).scale(0).epsilon(2e-4));
  }
}

TEST_CASE("adam: a row seen late begins with 3.16 learning rates by the global clock") {
  plain::single late(adam{.learning_rate = 0.01F, .bias_clock = clock_of::global}, 0.0F);
  CHECK(late.move(0.7F, 1'000'000) ==
        doctest::Approx(-0.01 * (1.0 - 0.9) / std::sqrt(1.0 - 0.999)).epsilon(1e-4));
  CHECK(late.weights[0] == doctest::Approx(-0.0316).scale(0).epsilon(1e-2));
}

TEST_CASE("adam: a row seen once moves, for the new gradient acts in its own step") {
  plain::single row(adam{}, 1.0F);
  CHECK(row.move(1.0F) < 1.0F);
  auto const before = row.weights[0];
  CHECK(row.move(0.0F, 1) < before);  // present without a gradient: its moments decay and move it
  CHECK(row.state[0] == doctest::Approx(0.9 * 0.1));
}

TEST_CASE("adam: what the row's clock keeps is 1 - beta^t, after any number of updates") {
  plain::single row(adam{}, 0.0F);
  for (std::int64_t t = 1; t <= 200'000; ++t) {
    row.move(0.01F, t);
    if (t != 1 && t != 2 && t != 10 && t != 1000 && t != 5000 && t != 200'000) continue;
    CAPTURE(t);
    auto const seen = [&](float beta) {
      return -std::expm1(static_cast<double>(t) * std::log(double{beta}));
    };
    CHECK(row.state[2] == doctest::Approx(seen(0.9F)).scale(0).epsilon(1e-5));
    CHECK(row.state[3] == doctest::Approx(seen(0.999F)).scale(0).epsilon(4e-5));
  }
}

TEST_CASE("adam: by the global clock a moment is corrected as long as a float can tell") {
  for (std::int64_t const t : {1, 2, 17, 170, 180, 1000, 17'000, 17'999, 18'001, 200'000}) {
    CAPTURE(t);
    plain::single row(adam{.learning_rate = 1.0F, .bias_clock = clock_of::global}, 0.0F);
    auto const seen = [&](float beta) {
      return -std::expm1(static_cast<double>(t) * std::log(double{beta}));
    };
    auto const m = (1.0 - double{0.9F}) * 0.5 / seen(0.9F);
    auto const v = (1.0 - double{0.999F}) * 0.25 / seen(0.999F);
    CHECK(row.move(-0.5F, t - 1) == doctest::Approx(m / std::sqrt(v)).epsilon(1e-6));
  }
}

TEST_CASE("adam: knobs without sense are refused") {
  CHECK_THROWS_WITH_AS(adam{.beta2 = 1.0F}.check(), doctest::Contains("adam's betas"),
                       inlay::error);
  CHECK_THROWS_AS(adam{.beta1 = -0.5F}.check(), inlay::error);
  CHECK_THROWS_AS(adam{.epsilon = 0.0F}.check(), inlay::error);
  CHECK_NOTHROW(adam{}.check());
}

}  // namespace
