#include <inlay/optim/row_optimizer.hpp>

#include "optim/plain.hpp"

#include <inlay/optim/adagrad.hpp>
#include <inlay/optim/adam.hpp>
#include <inlay/optim/ftrl.hpp>
#include <inlay/optim/momentum.hpp>
#include <inlay/optim/rowwise_adagrad.hpp>
#include <inlay/optim/sgd.hpp>
#include <inlay/testing/row_optimizer_laws.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace {

using plain::check_laws;

TEST_CASE("sgd, adagrad, rowwise_adagrad: the laws of a row optimizer hold") {
  check_laws(inlay::sgd{});
  check_laws(inlay::sgd{.learning_rate = 1.0F});
  check_laws(inlay::adagrad{});
  check_laws(inlay::adagrad{.learning_rate = 0.3F, .initial_accumulator = 0.1F});
  check_laws(inlay::rowwise_adagrad{});
  check_laws(inlay::rowwise_adagrad{.epsilon = 1e-3F, .initial_accumulator = 0.1F});
}

TEST_CASE("a one_of optimizers: the law of repeated ids holds for each choice") {
  using any = inlay::one_of<inlay::sgd, inlay::momentum, inlay::adagrad, inlay::rowwise_adagrad,
                            inlay::adam, inlay::ftrl>;
  for (auto const* const name : {"sgd", "momentum", "adagrad", "rowwise_adagrad", "adam", "ftrl"}) {
    inlay::testing::check_duplicates(any::named(name));
  }
}

TEST_CASE("sgd, adagrad: a column's result does not depend on the width of the row") {
  inlay::testing::check_columns(inlay::sgd{});
  inlay::testing::check_columns(inlay::adagrad{.initial_accumulator = 0.1F});
}

TEST_CASE("sgd: w -= lr g, whatever the width") {
  for (auto const dim : plain::dims) {
    plain::compare(inlay::sgd{.learning_rate = 0.2F}, dim,
                   [](plain::row& row, auto const& gradient) {
                     for (std::size_t i = 0; i < row.weights.size(); ++i) {
                       row.weights[i] -= double{0.2F} * row.factor * gradient[i];
                     }
                   });
  }
}

TEST_CASE("adagrad: a += g^2; w -= lr g / (sqrt(a) + eps), eps outside the root") {
  for (auto const dim : plain::dims) {
    plain::compare(
        inlay::adagrad{.learning_rate = 0.2F, .epsilon = 0.5F, .initial_accumulator = 0.1F}, dim,
        [](plain::row& row, auto const& gradient) {
          for (std::size_t i = 0; i < row.weights.size(); ++i) {
            row.state[i] += double{gradient[i]} * gradient[i];
            row.weights[i] -=
                double{0.2F} * row.factor * gradient[i] / (std::sqrt(row.state[i]) + 0.5);
          }
        });
  }
}

TEST_CASE("rowwise_adagrad: a += mean(g^2), one number a row") {
  for (auto const dim : plain::dims) {
    plain::compare(
        inlay::rowwise_adagrad{.learning_rate = 0.2F, .epsilon = 0.5F, .initial_accumulator = 0.1F},
        dim, [](plain::row& row, auto const& gradient) {
          double squares = 0.0;
          for (auto const slope : gradient) {
            squares += double{slope} * slope;
          }
          row.state[0] += squares / static_cast<double>(gradient.size());
          for (std::size_t i = 0; i < row.weights.size(); ++i) {
            row.weights[i] -=
                double{0.2F} * row.factor * gradient[i] / (std::sqrt(row.state[0]) + 0.5);
          }
        });
  }
}

TEST_CASE("adagrad, rowwise_adagrad: an initial accumulator of 0.1 is 0.1, in every float") {
  // Set bytewise it would become 0, or a pattern of one byte.
  std::vector<float> state(5, -1.0F);
  inlay::adagrad{.initial_accumulator = 0.1F}.reset({state.data(), state.size()});
  for (auto const value : state) {
    CHECK(std::bit_cast<std::uint32_t>(value) == 0x3dcccccdU);
  }
  inlay::rowwise_adagrad{.initial_accumulator = 0.1F}.reset({state.data(), 1});
  CHECK(std::bit_cast<std::uint32_t>(state[0]) == 0x3dcccccdU);
}

TEST_CASE("adagrad, rowwise_adagrad: a zero gradient at zero state moves nothing") {
  std::vector<float> weights{1.0F, -2.0F, 0.5F};
  std::vector<float> const before = weights;
  std::vector<float> const gradient(3);
  std::vector<float> state(3);
  inlay::adagrad{}.update({weights.data(), 3}, {state.data(), 3}, {gradient.data(), 3}, {});
  CHECK(weights == before);
  inlay::rowwise_adagrad{}.update({weights.data(), 3}, {state.data(), 1}, {gradient.data(), 3}, {});
  CHECK(weights == before);
}

TEST_CASE("a table's learning-rate factor multiplies the rate; zero freezes the table") {
  std::vector<float> const gradient{1.0F, 2.0F};
  auto const moved = [&](auto const& rule, float factor) {
    std::vector<float> weights{0.0F, 0.0F};
    std::vector<float> state(2, 1.0F);
    rule.update({weights.data(), 2}, {state.data(), rule.state_floats(2)}, {gradient.data(), 2},
                {.rate_factor = factor});
    return weights;
  };
  auto const check = [&](auto const& rule) {
    auto const one = moved(rule, 1.0F);
    CHECK(one[0] < 0.0F);
    CHECK(moved(rule, 2.0F) == std::vector<float>{2.0F * one[0], 2.0F * one[1]});
    CHECK(moved(rule, 0.0F) == std::vector<float>{0.0F, 0.0F});
  };
  check(inlay::sgd{});
  check(inlay::adagrad{});
  check(inlay::rowwise_adagrad{});
}

// The laws must also see what they look for.

/// Weight decay in the vector loop's body and not in its tail: found in published code.
struct decays_whole_vectors_only : inlay::sgd {
  void update(inlay::span<float> row, inlay::span<float> state, inlay::span<float const> gradient,
              inlay::update_context const& context) const noexcept {
    inlay::sgd::update(row, state, gradient, context);
    for (std::size_t i = 0; i < row.size() / 8 * 8; ++i) {
      row[i] *= 0.99F;
    }
  }
};

struct forgets_reset : inlay::adagrad {
  void reset(inlay::span<float> state) const noexcept {
    if (!state.empty()) state[0] = 0.0F;
  }
};

struct divides_by_nothing : inlay::adagrad {
  void update(inlay::span<float> row, inlay::span<float> state, inlay::span<float const> gradient,
              inlay::update_context const&) const noexcept {
    for (std::size_t i = 0; i < row.size(); ++i) {
      state[i] += gradient[i] * gradient[i];
      row[i] -= gradient[i] / std::sqrt(state[i]);
    }
  }
};

struct writes_beside : inlay::sgd {
  void update(inlay::span<float> row, inlay::span<float>, inlay::span<float const>,
              inlay::update_context const&) const noexcept {
    row.data()[row.size()] = 0.0F;
  }
};

TEST_CASE("row optimizer laws: each breach is found and named") {
  CHECK_THROWS_WITH_AS(inlay::testing::check_columns(decays_whole_vectors_only{}),
                       doctest::Contains("row of any width"), inlay::error);
  CHECK_THROWS_WITH_AS(inlay::testing::check_row_optimizer(forgets_reset{}),
                       doctest::Contains("reset all its state"), inlay::error);
  CHECK_THROWS_WITH_AS(inlay::testing::check_row_optimizer(divides_by_nothing{}),
                       doctest::Contains("keep rows finite"), inlay::error);
  CHECK_THROWS_WITH_AS(inlay::testing::check_row_optimizer(writes_beside{}),
                       doctest::Contains("write its row and its state alone"), inlay::error);
}

}  // namespace
