#include <inlay/optim/momentum.hpp>

#include "optim/plain.hpp"

#include <doctest/doctest.h>

namespace {

TEST_CASE("momentum: the laws of a row optimizer hold, and columns don't depend on the width") {
  plain::check_laws(inlay::momentum{});
  plain::check_laws(inlay::momentum{.learning_rate = 1.0F, .beta = 0.0F});
  inlay::testing::check_columns(inlay::momentum{});
}

TEST_CASE("momentum: u = beta u + g; w -= lr u") {
  for (auto const dim : plain::dims) {
    plain::compare(inlay::momentum{.learning_rate = 0.2F, .beta = 0.8F}, dim,
                   [](plain::row& row, auto const& gradient) {
                     for (std::size_t i = 0; i < row.weights.size(); ++i) {
                       row.state[i] = double{0.8F} * row.state[i] + gradient[i];
                       row.weights[i] -= double{0.2F} * row.factor * row.state[i];
                     }
                   });
  }
}

TEST_CASE("momentum: knobs without sense are refused") {
  CHECK_THROWS_WITH_AS(inlay::momentum{.beta = 1.0F}.check(), doctest::Contains("momentum's beta"),
                       inlay::error);
  CHECK_THROWS_AS((inlay::momentum{.beta = -0.1F}.check()), inlay::error);
  CHECK_NOTHROW(inlay::momentum{}.check());
}

}  // namespace
