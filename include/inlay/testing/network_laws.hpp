#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/random.hpp>
#include <inlay/core/views.hpp>
#include <inlay/model/network.hpp>
#include <inlay/testing/network_trial.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI::testing {

namespace detail {

template <network Network>
[[nodiscard]] double loss_of(Network const& network, trial_rows& rows,
                             typename Network::workspace& workspace) {
  auto const logits = network.forward(rows.pooled_view(), rows.dense_view(), workspace);
  double loss = 0;
  for (std::size_t row = 0; row < logits.size(); ++row) {
    loss += static_cast<double>(rows.c[row]) * logits[row];
  }
  return loss;
}

/// Compares `gradient` of the loss by `value` with difference quotients at several steps.
///
/// Along one value these networks are close to linear between the bends of ReLU. A bend within a
/// step spoils the quotients that cross it, so both sides are looked at and small steps too; these
/// suffer from rounding, as a logit is a float: an error of `rounding` / step. One quotient that
/// fits is enough, since a gradient that is wrong, by a factor or a term, fits none. What is asked
/// is 2e-3 of the gradient's own size and of the typical size beside it, for it is itself a sum in
/// float.
template <class Loss>
void check_slope(Loss const& loss, float& value, double gradient, double typical, double rounding,
                 std::string const& what) {
  auto const tolerance = 2e-3 * (std::abs(gradient) + typical);
  auto const there = value;
  auto const middle = loss();
  auto nearest = std::numeric_limits<double>::infinity();
  for (auto const step : {0x1p-4F, 0x1p-6F, 0x1p-8F, 0x1p-10F, 0x1p-12F}) {
    value = there + step;
    auto const above = static_cast<double>(value) - there;
    auto const rise = loss() - middle;
    value = there - step;
    auto const below = there - static_cast<double>(value);
    auto const fall = middle - loss();
    value = there;
    for (auto const& [change, distance] :
         {std::pair{rise + fall, above + below}, std::pair{rise, above}, std::pair{fall, below}}) {
      auto const quotient = change / distance;
      if (std::abs(quotient - gradient) <= tolerance + rounding / distance) {
        return;
      }
      if (std::abs(quotient - gradient) < std::abs(nearest - gradient)) {
        nearest = quotient;
      }
    }
  }
  fail("the gradient of " + what + " is " + std::to_string(gradient) +
       ", but finite differences say " + std::to_string(nearest));
}

/// Checks some entries of `values`, all if there are few, against `gradients` of the same shape.
template <class Loss>
void check_slopes(Loss const& loss, matrix_view<float> values, matrix_view<float const> gradients,
                  network_trial const& trial, double rounding, std::string const& what) {
  std::vector<float> flat;
  append(flat, gradients);
  double squares = 0;
  for (double const gradient : flat) {
    squares += gradient * gradient;
  }
  auto const typical = std::sqrt(squares / static_cast<double>(flat.size()));
  random_stream const stream{mix(trial.seed, 3)};
  for (std::size_t entry = 0; entry < std::min(flat.size(), trial.entries); ++entry) {
    auto const at = flat.size() <= trial.entries ? entry : stream.bits(entry) % flat.size();
    auto const row = at / values.cols;
    auto const column = at % values.cols;
    check_slope(loss, values.row(row)[column], flat[at], typical, rounding,
                what + " at (" + std::to_string(row) + ", " + std::to_string(column) + ")");
  }
}

}  // namespace detail

/// Parameters and gradients have the same shapes in the same order; logits and the gradient of
/// pooled rows are as many as the rows.
template <network Network>
void check_shapes(Network& network, network_trial const& trial) {
  detail::trial_rows rows(trial);
  auto workspace = network.make_workspace();
  auto const parameters = network.parameters();
  auto const gradients = workspace.gradients();
  expects(parameters.size() == gradients.size(), "each parameter needs a gradient");
  for (std::size_t at = 0; at < parameters.size(); ++at) {
    expects(parameters[at].rows == gradients[at].rows && parameters[at].cols == gradients[at].cols,
            "a parameter and its gradient need the same shape");
  }
  auto const logits = network.forward(rows.pooled_view(), rows.dense_view(), workspace);
  expects(logits.size() == trial.rows, "a network gives one logit a row");
  auto const gradient = network.backward(rows.loss_gradients(), workspace);
  expects(gradient.rows == trial.rows && gradient.cols == trial.pooled_width,
          "the gradient of pooled rows has their shape");
}

/// Gradients of pooled rows and of every parameter agree with finite differences.
template <network Network>
void check_gradients(Network& network, network_trial const& trial) {
  detail::trial_rows rows(trial);
  auto workspace = network.make_workspace();
  auto probe = network.make_workspace();
  auto const loss = [&] { return detail::loss_of(network, rows, probe); };
  constexpr auto rounding = 0x1p-22;  // of one logit: a few units in the last place of one
  static_cast<void>(network.forward(rows.pooled_view(), rows.dense_view(), workspace));
  auto const pooled_gradients = network.backward(rows.loss_gradients(), workspace);
  detail::check_slopes(loss, rows.pooled_view(), pooled_gradients, trial, rounding, "pooled rows");

  // A parameter bends the loss wherever it bends a row's logit. So that some step is free of bends,
  // only a few rows, from all parts of the batch, take part in the loss.
  constexpr std::size_t most = 32;
  auto const apart = (trial.rows + most - 1) / most;
  for (std::size_t row = 0; row < trial.rows; ++row) {
    rows.c[row] = (trial.rows - 1 - row) % apart == 0 ? rows.c[row] : 0.0F;
  }
  static_cast<void>(network.backward(rows.loss_gradients(), workspace));
  auto const parameters = network.parameters();
  for (std::size_t at = 0; at < parameters.size(); ++at) {
    detail::check_slopes(loss, parameters[at], workspace.gradients()[at], trial,
                         rounding * std::sqrt(static_cast<double>(most)),
                         "parameter " + std::to_string(at));
  }
}

/// Results are the same bits in a new workspace, in one that has seen other shapes, when asked
/// again (gradients are overwritten, not added up), and wherever the caller's rows lie.
template <network Network>
void check_workspaces(Network const& network, network_trial const& trial) {
  detail::trial_rows rows(trial);
  auto fresh = network.make_workspace();
  auto const expected = detail::results_of(network, rows, fresh);
  detail::expect_same(expected, detail::results_of(network, rows, fresh), "the call before");

  auto used = network.make_workspace();
  for (auto const other_rows : {2 * trial.rows + 5, trial.rows / 2}) {
    auto other = trial;
    other.rows = other_rows;
    other.seed = trial.seed + 1;
    detail::trial_rows before(other);
    static_cast<void>(detail::results_of(network, before, used));
  }
  detail::expect_same(expected, detail::results_of(network, rows, used), "the workspace");

  auto elsewhere = trial;
  elsewhere.padding = trial.padding + 13;
  detail::trial_rows moved(elsewhere);
  for (std::size_t row = 0; row < trial.rows; ++row) {
    moved.take(row, rows, row);
  }
  detail::expect_same(expected, detail::results_of(network, moved, used), "where rows lie");
}

/// A row's logit does not depend on what the other rows hold.
template <network Network>
void check_rows(Network const& network, network_trial const& trial) {
  detail::trial_rows rows(trial);
  auto workspace = network.make_workspace();
  auto const expected = detail::results_of(network, rows, workspace).logits;
  auto other = trial;
  other.seed = trial.seed + 1;
  for (std::size_t row = 0; row < trial.rows; row += 1 + trial.rows / 5) {
    detail::trial_rows others(other);
    others.take(row, rows, row);
    auto const logits = detail::results_of(network, others, workspace).logits;
    detail::expect_same({&expected[row], 1}, {&logits[row], 1}, "a logit depends on other rows");
  }
}

/// Rows whose logit has gradient zero, as padding rows have, change nothing, whatever they hold;
/// their own gradient is zero.
template <network Network>
void check_padding_rows(Network const& network, network_trial const& trial) {
  auto const kept = trial.rows - trial.rows / 3;
  detail::trial_rows rows(trial);
  auto other = trial;
  other.seed = trial.seed + 1;
  detail::trial_rows others(other);
  std::fill(rows.c.begin() + static_cast<std::ptrdiff_t>(kept), rows.c.end(), 0.0F);
  others.c = rows.c;
  for (std::size_t row = 0; row < kept; ++row) {
    others.take(row, rows, row);
  }
  auto workspace = network.make_workspace();
  auto one = detail::results_of(network, rows, workspace);
  auto two = detail::results_of(network, others, workspace);
  for (auto* const results : {&one, &two}) {
    for (auto at = kept * trial.pooled_width; at < results->pooled_gradients.size(); ++at) {
      expects(results->pooled_gradients[at] == 0.0F, "a padding row has a gradient");
    }
    results->pooled_gradients.resize(kept * trial.pooled_width);
    results->logits.resize(kept);
  }
  detail::expect_same(one, two, "what padding rows hold");
}

/// All laws of `network`. Throws `error` with a sentence at the first that does not hold; leaves
/// the parameters as they were.
template <network Network>
void check_network(Network& network, network_trial const& trial) {
  check_shapes(network, trial);
  check_workspaces(network, trial);
  check_rows(network, trial);
  check_padding_rows(network, trial);
  check_gradients(network, trial);
}

}  // namespace inlay::inline INLAY_ABI::testing
