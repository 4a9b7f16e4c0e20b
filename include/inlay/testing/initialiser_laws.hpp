#pragma once

#include <inlay/table/initialiser.hpp>
#include <inlay/testing/trial.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace inlay::inline INLAY_ABI {

namespace testing {

/// What an initialiser claims of its weights, in units of the scale.
struct weight_moments {
  double deviation = 0;  ///< standard deviation; the mean is zero
  double largest = 0;    ///< no weight is farther from zero
};

template <initialiser Init>
[[nodiscard]] std::vector<float> filled(Init const& init, std::uint64_t key, float scale,
                                        std::size_t dim) {
  std::vector<float> weights(dim, std::numeric_limits<float>::quiet_NaN());
  init.fill(random_stream{key}, scale, span<float>(weights.data(), dim));
  return weights;
}

/// Laws: every weight is written; the same stream gives the same bits; a wider row begins with the
/// narrower one; a power of two in the scale moves nothing but the exponent.
template <initialiser Init>
void check_weights(trial& with, Init const& init, std::uint64_t key) {
  auto const dim = 1 + with.below(70);
  auto const weights = filled(init, key, 1.0F, dim);
  auto const same = [&](std::vector<float> const& other) {
    return std::memcmp(weights.data(), other.data(), dim * sizeof(float)) == 0;
  };
  with.require(same(filled(init, key, 1.0F, dim)), "the same stream gives the same weights");
  with.require(same(filled(init, key, 1.0F, dim + with.below(9))),
               "a weight does not depend on the width of its row");
  auto halves = filled(init, key, 0.5F, dim);
  for (auto& weight : halves) {
    weight *= 2.0F;
  }
  with.require(same(halves), "weights are proportional to the scale");
  for (auto const weight : weights) {
    with.require(std::isfinite(weight), "every weight is written and finite");
  }
  for (auto const weight : filled(init, key, 0.0F, dim)) {
    with.require(weight == 0.0F, "weights of scale zero are zero");
  }
}

/// Law: over many rows the weights have the mean, the deviation and the bound that are claimed, at
/// any scale, and so has every column by itself.
template <initialiser Init>
void check_moments(trial& with, Init const& init, weight_moments claimed, float scale) {
  constexpr std::size_t rows = 20'000;
  constexpr std::size_t dim = 8;
  double sums[dim] = {};
  double squares[dim] = {};
  for (std::size_t row = 0; row < rows; ++row) {
    auto const weights = filled(init, with.bits(), scale, dim);
    for (std::size_t column = 0; column < dim; ++column) {
      auto const weight = static_cast<double>(weights[column]) / static_cast<double>(scale);
      with.require(std::abs(weight) <= claimed.largest, "no weight is beyond the bound");
      sums[column] += weight;
      squares[column] += weight * weight;
    }
  }
  // Five standard errors: one false alarm in a million columns.
  auto const margin = 5 * claimed.deviation / std::sqrt(static_cast<double>(rows));
  for (std::size_t column = 0; column < dim; ++column) {
    with.require(std::abs(sums[column] / rows) <= margin, "the mean of the weights is zero");
    with.require(std::abs(std::sqrt(squares[column] / rows) - claimed.deviation) <= margin,
                 "the weights have the standard deviation that is claimed");
  }
}

/// Checks the laws of `initialiser`; throws `error` with the one that is broken.
template <initialiser Init>
void check_initialiser(Init const& init, weight_moments claimed, std::uint64_t seed = 1) {
  trial with("the initialiser", seed);
  for (int round = 0; round < 200; ++round) {
    check_weights(with, init, with.bits());
  }
  check_moments(with, init, claimed, 1.0F);
  check_moments(with, init, claimed, 0.01F);
}

}  // namespace testing

}  // namespace inlay::inline INLAY_ABI
