#pragma once

#include <inlay/optim/row_optimizer.hpp>
#include <inlay/testing/row_optimizer_laws.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

// Rules beside their formulas, written in double and as plainly as can be.

namespace plain {

inline constexpr std::array<std::size_t, 9> dims{1, 2, 3, 8, 15, 16, 17, 31, 64};

/// A row as formulas see it.
struct row {
  std::vector<double> weights;
  std::vector<double> state;
  double factor = 1.0;  // of the learning rate, in this step
  std::int64_t step = 0;
};

/// Runs `rule` beside `formula(row, gradient)` for ten steps at factors that alternate.
template <class Rule, class Formula>
void compare(Rule const& rule, std::size_t dim, Formula const& formula,
             std::array<float, 2> factors = {1.0F, 0.25F}) {
  auto const seed = 11 + std::uint64_t{dim};
  CAPTURE(dim);
  CAPTURE(seed);
  inlay::testing::detail::law_row row(rule, dim, seed);
  plain::row expected{{row.weights().begin(), row.weights().end()},
                      {row.state().begin(), row.state().end()}};
  for (; expected.step < 10; ++expected.step) {
    auto const at = static_cast<std::uint64_t>(expected.step);
    auto const gradient = inlay::testing::detail::law_gradient(dim, 1.0F, inlay::mix(seed, at));
    auto const factor = factors[at % 2];
    rule.update(row.weights(), row.state(), {gradient.data(), dim},
                {.step = inlay::step_id{expected.step}, .rate_factor = factor});
    expected.factor = factor;
    formula(expected, gradient);
  }
  for (std::size_t i = 0; i < dim; ++i) {
    CHECK(row.weights()[i] == doctest::Approx(expected.weights[i]).epsilon(1e-5));
  }
  for (std::size_t i = 0; i < expected.state.size(); ++i) {
    CHECK(row.state()[i] == doctest::Approx(expected.state[i]).epsilon(1e-5));
  }
}

template <class Rule>
void check_laws(Rule const& rule) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    CAPTURE(seed);
    inlay::testing::check_row_optimizer(rule, seed);
  }
}

/// One row of one weight, moved by hand.
template <class Rule>
struct single {
  explicit single(Rule const& with, float weight) : rule(with), weights{weight} {
    state.resize(rule.state_floats(1));
    rule.reset({state.data(), state.size()});
  }
  float move(float slope, std::int64_t step = 0, float factor = 1.0F) {
    rule.update({weights.data(), 1}, {state.data(), state.size()}, {&slope, 1},
                {.step = inlay::step_id{step}, .rate_factor = factor});
    return weights[0];
  }

  Rule rule;
  std::vector<float> weights;
  std::vector<float> state;
};

}  // namespace plain
