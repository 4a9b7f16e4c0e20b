#include <inlay/model/log_loss.hpp>

#include <inlay/core/error.hpp>
#include <inlay/core/random.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace {

using inlay::log_loss;
using inlay::span;

constexpr auto not_a_number = std::numeric_limits<float>::quiet_NaN();
constexpr auto infinity = std::numeric_limits<float>::infinity();

span<float const> view(std::vector<float> const& values) { return {values.data(), values.size()}; }

/// By the definition, in long double: good to 1e-19, the rounding of a probability near one.
long double loss_by_definition(long double z, long double y) {
  auto const p = 1 / (1 + std::exp(-z));
  auto const q = 1 / (1 + std::exp(z));
  return -(y == 0 ? 0 : y * std::log(p)) - (y == 1 ? 0 : (1 - y) * std::log(q));
}

}  // namespace

TEST_CASE("log loss and its gradient equal their definitions in long double") {
  log_loss loss;
  for (float const label : {0.0F, 1.0F, 0.25F}) {
    for (float z = -100; z <= 100; z += 0.37F) {
      CAPTURE(label);
      CAPTURE(z);
      auto const result = loss(view({z}), {view({label}), {}});
      auto const expected = static_cast<double>(loss_by_definition(z, label));
      CHECK(std::abs(result.sum - expected) <= 1e-14 * expected + 2e-19);
      auto const large = static_cast<long double>(z);
      auto const gradient = (1 - static_cast<long double>(label)) / (1 + std::exp(-large)) -
                            static_cast<long double>(label) / (1 + std::exp(large));
      CHECK(result.gradients[0] == static_cast<float>(gradient));
    }
  }
}

TEST_CASE("log loss: gradients are of the weighted sum, and padding rows do not count") {
  log_loss loss;
  std::vector<float> const logits = {0, 2, not_a_number, -1};
  std::vector<float> const labels = {1, 0, 1, 1};
  std::vector<float> const weights = {1, 0.5F, 0, 2};
  auto const result = loss(view(logits), {view(labels), view(weights)});
  CHECK(result.weight == 3.5);
  CHECK(result.gradients[0] == -0.5F);
  CHECK(result.gradients[1] == doctest::Approx(0.5 / (1 + std::exp(-2.0))));
  CHECK(result.gradients[2] == 0);
  CHECK(result.gradients[3] == doctest::Approx(-2 / (1 + std::exp(-1.0))));
  auto const expected =
      std::log(2.0) + 0.5 * std::log1p(std::exp(2.0)) + 2 * std::log1p(std::exp(1.0));
  CHECK(result.sum == doctest::Approx(expected));
  CHECK(result.mean() == doctest::Approx(expected / 3.5));
}

TEST_CASE("log loss: NaN stays NaN, infinite logits give the limits") {
  log_loss loss;
  auto const at = [&](float logit, float label) {
    return loss(view({logit}), {view({label}), {}});
  };
  for (float const label : {0.0F, 1.0F}) {
    CHECK(std::isnan(at(not_a_number, label).sum));
    CHECK(std::isnan(at(not_a_number, label).gradients[0]));
  }
  CHECK(at(infinity, 1).sum == 0);
  CHECK(at(infinity, 1).gradients[0] == 0);
  CHECK(at(-infinity, 0).sum == 0);
  CHECK(at(-infinity, 0).gradients[0] == 0);
  CHECK(at(infinity, 0).sum == std::numeric_limits<double>::infinity());
  CHECK(at(infinity, 0).gradients[0] == 1);
  CHECK(at(-infinity, 1).sum == std::numeric_limits<double>::infinity());
  CHECK(at(-infinity, 1).gradients[0] == -1);
}

TEST_CASE("log loss: take() gives all calls since the last take()") {
  log_loss loss;
  static_cast<void>(loss(view({0, 0}), {view({1, 0}), {}}));
  static_cast<void>(loss(view({0}), {view({1}), {}}));
  auto const seen = loss.take();
  CHECK(seen.weight == 3);
  CHECK(seen.mean() == doctest::Approx(std::log(2.0)));
  CHECK(loss.take().weight == 0);
}

TEST_CASE("log loss: no rows cost nothing and are no error") {
  log_loss loss;
  auto const result = loss({}, {});
  CHECK(result.sum == 0);
  CHECK(result.weight == 0);
  CHECK(result.gradients.empty());
  CHECK(std::isnan(inlay::mean_log_loss({}, {})));
  CHECK(std::isnan(inlay::base_log_loss({})));
}

TEST_CASE("log loss refuses labels outside [0, 1] and sizes that differ") {
  log_loss loss;
  CHECK_THROWS_WITH_AS(static_cast<void>(loss(view({0, 0}), {view({1, -1}), {}})),
                       doctest::Contains("of row 1 is not between 0 and 1"), inlay::error);
  CHECK_THROWS_AS(static_cast<void>(loss(view({0}), {view({not_a_number}), {}})), inlay::error);
  CHECK_THROWS_AS(static_cast<void>(loss(view({0}), {view({1, 1}), {}})), inlay::error);
  CHECK_THROWS_AS(static_cast<void>(loss(view({0}), {view({1}), view({1, 1})})), inlay::error);
}

TEST_CASE("mean log loss is the mean, and the base rate's is the entropy of the labels") {
  std::vector<float> const logits = {1, -2, 0.5F, 3};
  std::vector<float> const labels = {1, 0, 0, 1};
  log_loss loss;
  auto const result = loss(view(logits), {view(labels), {}});
  CHECK(inlay::mean_log_loss(view(logits), view(labels)) == doctest::Approx(result.sum / 4));
  CHECK(inlay::base_log_loss(view({1, 0, 0, 0})) ==
        doctest::Approx(-0.25 * std::log(0.25) - 0.75 * std::log(0.75)));
  CHECK(inlay::base_log_loss(view({1, 1})) == 0);
}
