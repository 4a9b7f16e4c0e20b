#include <inlay/model/network.hpp>

#include <inlay/core/error.hpp>
#include <inlay/model/deepfm.hpp>
#include <inlay/model/dlrm.hpp>
#include <inlay/model/logistic_regression.hpp>
#include <inlay/testing/network_laws.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using inlay::deepfm;
using inlay::dlrm;
using inlay::logistic_regression;
using inlay::matrix_view;
using inlay::span;

/// A network of three fields.
template <class Network>
Network small(std::size_t dim, std::size_t dense_width, std::vector<std::size_t> hidden,
              std::uint64_t seed = 7) {
  typename Network::knobs chosen;
  chosen.fields = 3;
  chosen.dim = dim;
  chosen.dense_width = dense_width;
  chosen.seed = seed;
  if constexpr (requires { chosen.top; }) {
    chosen.top = std::move(hidden);
    chosen.bottom = {6};
  } else {
    chosen.hidden = std::move(hidden);
  }
  return Network(chosen);
}

/// What a call says when it fails; empty when it does not.
template <class Call>
std::string sentence_of(Call const& call) {
  try {
    call();
  } catch (inlay::error const& error) {
    return error.sentence();
  }
  return {};
}

/// A right network but for one gradient.
struct wrong_network : logistic_regression {
  using logistic_regression::backward;
  using logistic_regression::tiled_network;

  [[nodiscard]] matrix_view<float const> backward(span<float const> gradients, workspace& w) const {
    auto const right = logistic_regression::backward(gradients, w);
    auto* const last = const_cast<float*>(right.data + right.rows * right.stride - right.stride);
    last[0] *= 1.01F;
    return right;
  }
};

}  // namespace

TEST_CASE("logistic regression keeps the laws of a network") {
  for (std::size_t const rows : {0U, 1U, 2U, 129U}) {
    for (std::size_t const dense_width : {0U, 1U, 13U}) {
      CAPTURE(rows);
      CAPTURE(dense_width);
      logistic_regression network({.fields = 5, .dense_width = dense_width});
      inlay::testing::check_network(
          network, {.rows = rows, .pooled_width = 5, .dense_width = dense_width, .entries = 100});
    }
  }
}

TEST_CASE_TEMPLATE("deep networks keep the laws of a network", Network, deepfm, dlrm) {
  for (std::size_t const rows : {0U, 1U, 129U}) {
    for (std::size_t const dim : {2U, 3U, 16U, 17U}) {
      for (std::size_t const dense_width : {0U, 5U}) {
        CAPTURE(rows);
        CAPTURE(dim);
        CAPTURE(dense_width);
        auto network = small<Network>(dim, dense_width, {9, 4});
        inlay::testing::check_network(
            network, {.rows = rows, .pooled_width = 3 * dim, .dense_width = dense_width});
      }
    }
  }
}

TEST_CASE_TEMPLATE("the laws hold at full width, over several tiles of rows", Network, deepfm,
                   dlrm) {
  typename Network::knobs chosen;
  chosen.fields = 26;
  chosen.dense_width = 13;
  chosen.seed = 3;
  Network network(chosen);
  inlay::testing::check_network(network, {.rows = 300,
                                          .pooled_width = std::size_t{26} * 16,
                                          .dense_width = 13,
                                          .entries = 12,
                                          .seed = 5});
}

TEST_CASE("DLRM keeps the laws with one field and with many") {
  for (std::size_t const fields : {1U, 2U, 4U, 16U, 33U, 50U}) {
    for (std::size_t const dense_width : {0U, 2U}) {
      if (fields == 1 && dense_width == 0) {
        continue;
      }
      CAPTURE(fields);
      CAPTURE(dense_width);
      dlrm network({.fields = fields,
                    .dim = 5,
                    .dense_width = dense_width,
                    .bottom = {7},
                    .top = {8},
                    .seed = 2});
      inlay::testing::check_network(
          network, {.rows = 9, .pooled_width = 5 * fields, .dense_width = dense_width});
    }
  }
}

TEST_CASE("DLRM keeps the laws with no layer at the bottom but the last, or with more") {
  for (auto const& bottom : {std::vector<std::size_t>{}, std::vector<std::size_t>{9, 3}}) {
    dlrm network(
        {.fields = 3, .dim = 1, .dense_width = 2, .bottom = bottom, .top = {8}, .seed = 2});
    inlay::testing::check_network(network, {.rows = 20, .pooled_width = 3, .dense_width = 2});
  }
}

TEST_CASE_TEMPLATE("the laws hold without hidden layers, or with four", Network, deepfm, dlrm) {
  for (auto const& hidden : {std::vector<std::size_t>{}, std::vector<std::size_t>{8, 1, 33, 5}}) {
    auto network = small<Network>(4, 2, hidden);
    inlay::testing::check_network(network, {.rows = 20, .pooled_width = 12, .dense_width = 2});
  }
}

TEST_CASE("the laws find a gradient that is one hundredth too large") {
  wrong_network network({.fields = 2});
  auto const sentence = sentence_of([&] {
    inlay::testing::check_network(network, {.rows = 4, .pooled_width = 2, .entries = 100});
  });
  CHECK(sentence.find("the gradient of pooled rows at (3, 0)") == 0);
}

TEST_CASE("DeepFM's logit is the formula of the paper") {
  // Two fields of dim 3, no hidden layer: bias + dense w + w1 + w2 + <v1, v2> + [v1, v2, dense] u.
  auto network = deepfm({.fields = 2, .dim = 3, .dense_width = 1, .hidden = {}});
  auto const tensors = network.parameters();
  REQUIRE(tensors.size() == 3);
  tensors[0].data[0] = 0.5F;
  std::vector<float> const output = {1, 2, 3, 4, 5};
  std::copy(output.begin(), output.end(), tensors[1].data);
  tensors[2].data[0] = 10;
  std::vector<float> const pooled = {0.25F, 1, 2, -1, 3, 4};
  std::vector<float> const dense = {2};
  auto const logits =
      network.forward({pooled.data(), 1, pooled.size()}, {dense.data(), 1, dense.size()});
  CHECK(logits[0] == 0.5F + 20 + (0.25F - 1) + (3 + 8) + (1 + 4 + 9 + 16 + 10));
}

TEST_CASE("DLRM's logit is the formula of the paper") {
  // Two fields of dim 2, one layer at the bottom, none on top: bias + [z, <e1, e0>, <z, e0>, <z,
  // e1>] u with z = max(0, dense W + b).
  auto network = dlrm({.fields = 2, .dim = 2, .dense_width = 1, .bottom = {}, .top = {}});
  auto const tensors = network.parameters();
  REQUIRE(tensors.size() == 4);
  tensors[0].data[0] = 0.5F;
  std::vector<float> const output = {10, 20, 3, 4, 5};
  std::copy(output.begin(), output.end(), tensors[1].data);
  std::vector<float> const weights = {2, -1};
  std::copy(weights.begin(), weights.end(), tensors[2].data);
  std::vector<float> const biases = {-1, 1};
  std::copy(biases.begin(), biases.end(), tensors[3].data);
  std::vector<float> const pooled = {0.25F, 1, 2, -1};
  std::vector<float> const dense = {3};
  auto const logits =
      network.forward({pooled.data(), 1, pooled.size()}, {dense.data(), 1, dense.size()});
  // z = (5, 0), since 3 x -1 + 1 < 0.
  CHECK(logits[0] == 0.5F + 50 + 3 * (0.5F - 1) + 4 * 1.25F + 5 * 10);
}

TEST_CASE_TEMPLATE("the short forms are the long ones with the network's own workspace", Network,
                   deepfm, dlrm) {
  auto network = small<Network>(3, 2, {4});
  inlay::testing::detail::trial_rows rows({.rows = 7, .pooled_width = 9, .dense_width = 2});
  auto workspace = network.make_workspace();
  auto const expected = inlay::testing::detail::results_of(network, rows, workspace);
  auto const gradients = network.gradients();  // attached before any forward, as the engine does
  inlay::testing::detail::network_results own;
  auto const logits = network.forward(rows.pooled_view(), rows.dense_view());
  own.logits.assign(logits.begin(), logits.end());
  inlay::testing::detail::append(own.pooled_gradients, network.backward(rows.loss_gradients()));
  for (auto const& tensor : gradients) {
    inlay::testing::detail::append(own.parameter_gradients, tensor);
  }
  inlay::testing::detail::expect_same(expected, own, "whose workspace it is");
}

TEST_CASE_TEMPLATE("views of parameters and gradients outlive a move of the network", Network,
                   deepfm, dlrm) {
  auto network = small<Network>(3, 0, {4});
  auto const* const first = network.parameters()[1].data;
  auto const* const gradient = network.gradients()[1].data;
  auto const moved = std::make_unique<Network>(std::move(network));
  CHECK(moved->parameters()[1].data == first);
  CHECK(moved->gradients()[1].data == gradient);
}

TEST_CASE_TEMPLATE("a step of as many rows as before needs no new memory", Network, deepfm, dlrm) {
  auto network = small<Network>(16, 5, {32, 16});
  inlay::testing::detail::trial_rows rows({.rows = 300, .pooled_width = 48, .dense_width = 5});
  auto const* const logits = network.forward(rows.pooled_view(), rows.dense_view()).data();
  auto const* const gradient = network.backward(rows.loss_gradients()).data;
  inlay::testing::detail::trial_rows fewer({.rows = 10, .pooled_width = 48, .dense_width = 5});
  static_cast<void>(network.forward(fewer.pooled_view(), fewer.dense_view()));
  static_cast<void>(network.backward(fewer.loss_gradients()));
  CHECK(network.forward(rows.pooled_view(), rows.dense_view()).data() == logits);
  CHECK(network.backward(rows.loss_gradients()).data == gradient);
}

TEST_CASE_TEMPLATE("chunks of 128 rows have the logits that they have in a larger batch", Network,
                   deepfm, dlrm) {
  auto network = small<Network>(16, 5, {32, 16});
  inlay::testing::detail::trial_rows rows({.rows = 384, .pooled_width = 48, .dense_width = 5});
  auto const logits = network.forward(rows.pooled_view(), rows.dense_view());
  std::vector<float> const whole(logits.begin(), logits.end());
  for (std::size_t first = 0; first < 384; first += 128) {
    auto const chunk = network.forward(rows.pooled_view().row_range(first, 128),
                                       rows.dense_view().row_range(first, 128));
    CHECK(std::equal(chunk.begin(), chunk.end(), whole.data() + first));
  }
}

TEST_CASE_TEMPLATE("the seed decides the initial weights", Network, deepfm, dlrm) {
  auto const weights = [](std::uint64_t seed) {
    auto network = small<Network>(4, 3, {50, 50}, seed);
    std::vector<float> all;
    for (auto const& tensor : network.parameters()) {
      all.insert(all.end(), tensor.data, tensor.data + tensor.size());
    }
    return all;
  };
  CHECK(weights(1) == weights(1));
  CHECK(weights(1) != weights(2));
}

TEST_CASE_TEMPLATE("NaN and infinities in a row reach its logit and no other", Network, deepfm,
                   dlrm) {
  auto const nan = std::numeric_limits<float>::quiet_NaN();
  auto const infinity = std::numeric_limits<float>::infinity();
  for (auto const poison : {nan, infinity, -infinity}) {
    auto network = small<Network>(4, 2, {8, 4});
    inlay::testing::detail::trial_rows rows({.rows = 40, .pooled_width = 12, .dense_width = 2});
    rows.pooled_view().row(17)[2] = poison;
    auto const logits = network.forward(rows.pooled_view(), rows.dense_view());
    for (std::size_t row = 0; row < 40; ++row) {
      CAPTURE(row);
      CHECK(std::isfinite(logits[row]) == (row != 17));
    }
  }
}

TEST_CASE("networks refuse what they were not made for, in words") {
  CHECK(sentence_of([] { small<deepfm>(1, 0, {4}); }) ==
        "DeepFM needs a dim of at least 2: a linear weight and one factor");
  CHECK(sentence_of([] { small<deepfm>(4, 0, {4, 0}); }) ==
        "a hidden layer needs at least one unit");
  CHECK(sentence_of([] { deepfm({.fields = 0}); }) == "DeepFM needs at least one field");
  CHECK(sentence_of([] { dlrm({.fields = 0, .dense_width = 1}); }) ==
        "DLRM needs at least one field");
  CHECK(sentence_of([] { dlrm({.fields = 1}); }) ==
        "DLRM without dense features needs at least two fields: it sees pairs alone");
  CHECK(sentence_of([] { dlrm({.fields = 2, .dim = 0}); }) == "DLRM needs a dim of at least 1");
  CHECK(sentence_of([] { logistic_regression({.fields = 0}); }) ==
        "logistic regression needs at least one field");

  auto network = small<deepfm>(4, 2, {4});
  std::vector<float> const values(100);
  auto const with = [&](std::size_t pooled_cols, std::size_t dense_cols, std::size_t dense_rows) {
    return sentence_of([&] {
      static_cast<void>(network.forward({values.data(), 3, pooled_cols},
                                        {values.data(), dense_rows, dense_cols}));
    });
  };
  CHECK(with(12, 2, 3).empty());
  CHECK(with(13, 2, 3) == "DeepFM was made for 12 pooled columns (fields x dim, one dim for all "
                          "fields), not 13");
  CHECK(with(12, 1, 3) == "DeepFM was made for 2 dense features, not 1");
  CHECK(with(12, 2, 4) == "there are 3 pooled rows but 4 dense ones");
  std::vector<float> const too_few(2);
  CHECK(sentence_of([&] {
          static_cast<void>(network.backward({too_few.data(), too_few.size()}));
        }) == "backward needs one gradient for each logit of the last forward");
}
