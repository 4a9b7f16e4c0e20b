#include <inlay/optim/weight_decay.hpp>

#include "optim/plain.hpp"

#include <inlay/optim/adagrad.hpp>
#include <inlay/optim/adam.hpp>
#include <inlay/optim/momentum.hpp>
#include <inlay/optim/rowwise_adagrad.hpp>
#include <inlay/optim/sgd.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <tuple>

namespace {

using inlay::decay_mode;
using inlay::weight_decay;

/// Every rule that can decay, with this decay.
auto rules(weight_decay decay) {
  return std::tuple{inlay::sgd{.learning_rate = 0.1F, .decay = decay},
                    inlay::momentum{.learning_rate = 0.1F, .decay = decay},
                    inlay::adagrad{.learning_rate = 0.1F, .decay = decay},
                    inlay::rowwise_adagrad{.learning_rate = 0.1F, .decay = decay},
                    inlay::adam{.learning_rate = 0.1F, .decay = decay}};
}

template <class Body>
void for_each_rule(weight_decay decay, Body const& body) {
  std::apply(
      [&](auto const&... rule) {
        (([&] {
           CAPTURE(rule.name);
           body(rule);
         }()),
         ...);
      },
      rules(decay));
}

TEST_CASE("weight decay: the laws hold for every rule, in either mode") {
  for (auto const mode : {decay_mode::on_touch, decay_mode::lazy}) {
    for_each_rule({.rate = 0.3F, .mode = mode}, [](auto const& rule) { plain::check_laws(rule); });
  }
}

TEST_CASE("weight decay: a column decays the same whatever the width, in body and tail") {
  for (auto const mode : {decay_mode::on_touch, decay_mode::lazy}) {
    weight_decay const decay{.rate = 0.5F, .mode = mode};
    inlay::testing::check_columns(inlay::sgd{.decay = decay});
    inlay::testing::check_columns(inlay::momentum{.decay = decay});
    inlay::testing::check_columns(inlay::adagrad{.decay = decay});
    inlay::testing::check_columns(inlay::adam{.decay = decay});
  }
}

TEST_CASE("weight decay: the state grows by one float only where it is lazy") {
  auto const floats = [](weight_decay decay) {
    std::vector<std::size_t> all;
    for_each_rule(decay, [&](auto const& rule) { all.push_back(rule.state_floats(8)); });
    return all;
  };
  CHECK(floats({}) == std::vector<std::size_t>{0, 8, 8, 1, 18});
  CHECK(floats({.rate = 0.1F, .mode = decay_mode::on_touch}) == floats({}));
  CHECK(floats({.rate = 0.1F, .mode = decay_mode::lazy}) ==
        std::vector<std::size_t>{1, 9, 9, 2, 19});
}

TEST_CASE("weight decay: without a gradient a weight is what the powers say, by every rule") {
  // Touched in steps 4, 5, 9 and 30; the rate halves in step 9.
  double const left = 1.0 - double{0.1F} * 0.5;
  double const half = 1.0 - double{0.05F} * 0.5;
  auto const run = [](auto const& rule) {
    plain::single row(rule, 2.0F);
    row.move(0.0F, 4);
    row.move(0.0F, 5);
    row.move(0.0F, 9, 0.5F);
    return row.move(0.0F, 30);
  };
  for_each_rule({.rate = 0.5F, .mode = decay_mode::on_touch}, [&](auto const& rule) {
    CHECK(run(rule) == doctest::Approx(2.0 * left * left * half * left).epsilon(1e-6));
  });
  for_each_rule({.rate = 0.5F, .mode = decay_mode::lazy}, [&](auto const& rule) {
    CHECK(
        run(rule) ==
        doctest::Approx(2.0 * left * left * std::pow(half, 4) * std::pow(left, 21)).epsilon(1e-6));
  });
  for_each_rule({}, [&](auto const& rule) { CHECK(run(rule) == 2.0F); });
}

TEST_CASE("weight decay: beside the gradient's step, which it does not change") {
  // Decoupled: the row first decays, then moves as if there were no decay.
  for_each_rule({.rate = 0.5F, .mode = decay_mode::on_touch}, [](auto const& rule) {
    auto without = rule;
    without.decay = {};
    plain::single decayed(rule, 2.0F);
    plain::single bare(without, 0.0F);
    for (std::int64_t step = 0; step < 5; ++step) {
      auto const before = decayed.weights[0];
      auto const at = bare.weights[0];
      auto const moved = bare.move(0.3F, step) - at;
      CHECK(decayed.move(0.3F, step) ==
            doctest::Approx(before * (1.0 - double{0.1F} * 0.5) + moved).epsilon(1e-6));
    }
    for (std::size_t i = 0; i < bare.state.size(); ++i) {
      CHECK(decayed.state[i] == bare.state[i]);
    }
  });
}

TEST_CASE("sgd: w -= lr (g + wd w), whatever the width") {
  for (auto const dim : plain::dims) {
    plain::compare(
        inlay::sgd{.learning_rate = 0.2F, .decay = {.rate = 0.7F, .mode = decay_mode::on_touch}},
        dim, [](plain::row& row, auto const& gradient) {
          for (std::size_t i = 0; i < row.weights.size(); ++i) {
            row.weights[i] -=
                double{0.2F} * row.factor * (gradient[i] + double{0.7F} * row.weights[i]);
          }
        });
  }
}

TEST_CASE("weight decay: beyond 2^24 steps single steps round, and their sum stays right") {
  weight_decay const decay{.rate = 1e-3F, .mode = decay_mode::lazy};
  for (std::int64_t const first : {std::int64_t{1} << 24, (std::int64_t{1} << 26) + 5}) {
    plain::single row(inlay::sgd{.learning_rate = 1.0F, .decay = decay}, 1.0F);
    row.move(0.0F, first);
    auto const begun = row.weights[0];
    for (std::int64_t step = first + 1; step <= first + 1000; ++step) {
      row.move(0.0F, step);
    }
    CHECK(row.weights[0] / begun ==
          doctest::Approx(std::pow(1.0 - double{1e-3F}, 1000)).epsilon(5e-3));
  }
}

TEST_CASE("weight decay: knobs without sense are refused") {
  auto const check = [](weight_decay decay) {
    inlay::sgd{.learning_rate = 0.5F, .decay = decay}.check();
  };
  CHECK_THROWS_WITH_AS(check({.rate = 0.1F}), doctest::Contains("say on_touch or lazy"),
                       inlay::error);
  CHECK_THROWS_AS(check({.rate = -0.1F, .mode = decay_mode::lazy}), inlay::error);
  CHECK_THROWS_WITH_AS(check({.rate = 2.0F, .mode = decay_mode::lazy}),
                       doctest::Contains("less than one"), inlay::error);
  CHECK_NOTHROW(check({.rate = 1.9F, .mode = decay_mode::on_touch}));
}

}  // namespace
