// Networks beside PyTorch's: make_torch_fixture.py has written what it said.

#include "torch_fixture.hpp"

#include <inlay/model/deepfm.hpp>
#include <inlay/model/dlrm.hpp>
#include <inlay/model/log_loss.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

namespace {

constexpr std::size_t rows = 6;
constexpr std::size_t fields = 3;
constexpr std::size_t dim = 4;
constexpr std::size_t dense_width = 3;

/// PyTorch's numbers are in double. From an input to the furthest gradient there are two products
/// in depth for each of three or four layers, of 13 terms at most, and the loss: fewer than 64
/// roundings in a chain, each of half a unit in the last place of a float.
constexpr double tolerance = 64 * 0x1p-24;

double norm(double const* values, std::size_t count) {
  double sum = 0;
  for (std::size_t at = 0; at < count; ++at) {
    sum += values[at] * values[at];
  }
  return std::sqrt(sum);
}

/// |found - expected| <= tolerance |expected|, as vectors; expected values begin at `first`, which
/// is moved behind them.
void check_close(inlay::span<float const> found, std::vector<double> const& expected,
                 std::size_t& first, std::string const& what) {
  CAPTURE(what);
  REQUIRE(first + found.size() <= expected.size());
  auto const* const wanted = expected.data() + first;
  std::vector<double> difference(found.size());
  std::transform(found.begin(), found.end(), wanted, difference.begin(),
                 [](float one, double other) { return one - other; });
  CHECK(norm(difference.data(), difference.size()) <= tolerance * norm(wanted, found.size()));
  CHECK(norm(wanted, found.size()) > 0);
  first += found.size();
}

template <class Network>
void check_case(Network network, torch_case const& expected) {
  auto const* parameter = expected.parameters.data();
  for (auto const& tensor : network.parameters()) {
    REQUIRE(parameter + tensor.size() <= expected.parameters.data() + expected.parameters.size());
    std::copy_n(parameter, tensor.size(), tensor.data);
    parameter += tensor.size();
  }
  REQUIRE(parameter == expected.parameters.data() + expected.parameters.size());

  auto const logits = network.forward({expected.pooled.data(), rows, fields * dim},
                                      {expected.dense.data(), rows, dense_width});
  std::size_t first = 0;
  check_close(logits, expected.logits, first, "logits");

  inlay::log_loss loss;
  auto const said = loss(logits, {expected.labels, expected.weights});
  CHECK(std::abs(said.sum - expected.loss) <= tolerance * expected.loss);

  auto const pooled_gradients = network.backward(said);
  first = 0;
  for (std::size_t row = 0; row + 1 < rows; ++row) {
    check_close(pooled_gradients.row(row), expected.pooled_gradients, first,
                "gradients of pooled row " + std::to_string(row));
  }
  for (auto const gradient : pooled_gradients.row(rows - 1)) {  // its weight is zero
    CHECK(gradient == 0);
    CHECK(expected.pooled_gradients[first++] == 0);
  }
  first = 0;
  for (auto const& tensor : network.gradients()) {
    check_close({tensor.data, tensor.size()}, expected.parameter_gradients, first,
                "gradients of the tensor that ends at " + std::to_string(first));
  }
  CHECK(first == expected.parameter_gradients.size());
}

}  // namespace

TEST_CASE("DeepFM says what PyTorch says, forward and backward") {
  check_case(
      inlay::deepfm({.fields = fields, .dim = dim, .dense_width = dense_width, .hidden = {6, 5}}),
      torch_deepfm);
}

TEST_CASE("DLRM says what PyTorch says, forward and backward") {
  check_case(
      inlay::dlrm(
          {.fields = fields, .dim = dim, .dense_width = dense_width, .bottom = {5}, .top = {6, 5}}),
      torch_dlrm);
}
