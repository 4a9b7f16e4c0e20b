#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/hash.hpp>
#include <inlay/core/random.hpp>
#include <inlay/core/views.hpp>
#include <inlay/model/network.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace inlay::inline INLAY_ABI::testing {

/// What a network is tried with.
struct network_trial {
  std::size_t rows = 0;          ///< samples
  std::size_t pooled_width = 0;  ///< columns of pooled embeddings
  std::size_t dense_width = 0;   ///< dense features
  std::size_t padding = 3;       ///< floats between two rows
  std::size_t entries = 48;      ///< of each parameter tensor that are perturbed, chosen at random
  std::uint64_t seed = 1;        ///< of rows, and of what is perturbed
};

namespace detail {

/// Random rows, and random c: the loss of all laws is the sum over rows of c logit. Its gradient by
/// the logits is c itself, so no rounding of a loss blurs what the network does.
struct trial_rows {
  explicit trial_rows(network_trial const& of)
      : trial(of),
        pooled(values(of.pooled_width, 0)),
        dense(values(of.dense_width, 1)),
        c(of.rows) {
    random_stream const stream{mix(trial.seed, 2)};
    for (std::size_t row = 0; row < trial.rows; ++row) {
      c[row] = stream.normal(row);
    }
  }

  [[nodiscard]] matrix_view<float> pooled_view() { return view(pooled, trial.pooled_width); }
  [[nodiscard]] matrix_view<float> dense_view() { return view(dense, trial.dense_width); }
  [[nodiscard]] span<float const> loss_gradients() const { return {c.data(), c.size()}; }

  /// Gives row `to` what row `from` of another set of the same shape holds.
  void take(std::size_t to, trial_rows& other, std::size_t from) {
    std::ranges::copy(other.pooled_view().row(from), pooled_view().row(to).begin());
    std::ranges::copy(other.dense_view().row(from), dense_view().row(to).begin());
  }

  network_trial trial;
  std::vector<float> pooled;
  std::vector<float> dense;
  std::vector<float> c;  // (rows)

 private:
  [[nodiscard]] std::vector<float> values(std::size_t width, std::uint64_t which) const {
    std::vector<float> drawn(1 + trial.rows * (width + trial.padding));
    random_stream const stream{mix(trial.seed, which)};
    for (std::size_t at = 0; at < drawn.size(); ++at) {
      drawn[at] = 0.5F * stream.normal(at);
    }
    return drawn;
  }

  // From the second float on: not even the first row is aligned.
  [[nodiscard]] matrix_view<float> view(std::vector<float>& drawn, std::size_t width) const {
    return {drawn.data() + 1, trial.rows, width, width + trial.padding};
  }
};

/// What a network says of some rows, copied out of its workspace.
struct network_results {
  std::vector<float> logits;               // (rows)
  std::vector<float> pooled_gradients;     // (rows, pooled width)
  std::vector<float> parameter_gradients;  // tensor after tensor
};

inline void append(std::vector<float>& values, matrix_view<float const> matrix) {
  for (std::size_t row = 0; row < matrix.rows; ++row) {
    values.insert(values.end(), matrix.row(row).begin(), matrix.row(row).end());
  }
}

template <network Network>
[[nodiscard]] network_results results_of(Network const& network, trial_rows& rows,
                                         typename Network::workspace& workspace) {
  network_results results;
  auto const logits = network.forward(rows.pooled_view(), rows.dense_view(), workspace);
  results.logits.assign(logits.begin(), logits.end());
  append(results.pooled_gradients, network.backward(rows.loss_gradients(), workspace));
  for (auto const& tensor : workspace.gradients()) {
    append(results.parameter_gradients, tensor);
  }
  return results;
}

/// Bits are compared, for == would not tell 0 from -0, nor find NaN equal to itself.
inline void expect_same(span<float const> one, span<float const> other, std::string const& what) {
  auto const same = [](float a, float b) {
    return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
  };
  if (!std::equal(one.begin(), one.end(), other.begin(), other.end(), same)) {
    fail(what);
  }
}

inline void expect_same(network_results const& one, network_results const& other,
                        std::string const& circumstance) {
  expect_same(one.logits, other.logits, "logits depend on " + circumstance);
  expect_same(one.pooled_gradients, other.pooled_gradients,
              "gradients of pooled rows depend on " + circumstance);
  expect_same(one.parameter_gradients, other.parameter_gradients,
              "gradients of parameters depend on " + circumstance);
}

}  // namespace detail

}  // namespace inlay::inline INLAY_ABI::testing
