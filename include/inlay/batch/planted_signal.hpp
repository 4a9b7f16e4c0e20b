#pragma once

#include <inlay/batch/criteo_row.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/hash.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/core/random.hpp>
#include <inlay/core/views.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// What the planted signal is made of.
struct signal_options {
  std::size_t pairs = 6;      ///< pairs of fields that interact, at most 55
  std::size_t rank = 2;       ///< products of factors in a pair
  double click_rate = 0.25;   ///< mean of the labels
  double linear = 0.9;        ///< standard deviation of each of the three terms of the logit
  double interactions = 1.3;  ///< of pairs of fields
  double integers = 0.5;      ///< of integers
};

/// The logit behind synthetic labels:
/// bias + a * sum of u_f(id_f) + c * sum over pairs and factors r of v_f,r(id_f) * v_g,r(id_g)
/// + d * sum of +-(standardised integer features).
///
/// u and v are standard normals computed from (seed, field, id, r), so nothing is stored, whatever
/// the number of ids. a, c and d give the terms their deviations over a pilot, else difficulty
/// would change with the seed; the bias gives the click rate there.
class planted_signal {
 public:
  /// Scales effects and finds the bias by some rows like those to come.
  planted_signal(signal_options const& options, std::uint64_t seed, span<criteo_row const> pilot)
      : seed_(seed), rank_(options.rank) {
    expects(options.pairs <= all_pairs, "there are at most 55 pairs of fields that can interact");
    expects(options.click_rate > 0 && options.click_rate < 1,
            "the click rate must lie between 0 and 1");
    expects(!pilot.empty(), "a signal needs a pilot to normalise it on");
    choose_pairs(options.pairs);
    standardise_integers(pilot);
    std::vector<terms> measured;
    measured.reserve(pilot.size());
    for (auto const& row : pilot) {
      measured.push_back(measure(row));
    }
    linear_ = factor(measured, &terms::linear, options.linear);
    interactions_ = factor(measured, &terms::interactions, options.interactions);
    integers_ = factor(measured, &terms::integers, options.integers);
    bias_ = find_bias(measured, options.click_rate);
  }

  /// The log-odds of a click.
  [[nodiscard]] double logit(criteo_row const& row) const noexcept {
    return bias_ + weigh(measure(row));
  }

 private:
  struct terms {
    double linear = 0;
    double interactions = 0;
    double integers = 0;
  };

  // Fields of few ids: what is planted over heavy tails can't be learned from few samples.
  static constexpr std::array<std::uint8_t, 11> paired_fields{0,  1,  4,  5,  7, 13,
                                                              16, 18, 21, 22, 24};
  static constexpr std::size_t all_pairs = paired_fields.size() * (paired_fields.size() - 1) / 2;
  static constexpr std::size_t pilot_steps = 60;  // of bisection: to 1e-16 of the first interval

  void choose_pairs(std::size_t count) {
    for (std::size_t second = 1; second < paired_fields.size(); ++second) {
      for (std::size_t first = 0; first < second; ++first) {
        pairs_.emplace_back(paired_fields[first], paired_fields[second]);
      }
    }
    auto const lot = [&](auto const& pair) { return mix(mix(seed_, pair.first), pair.second); };
    std::sort(pairs_.begin(), pairs_.end(),
              [&](auto const& left, auto const& right) { return lot(left) < lot(right); });
    pairs_.resize(count);
  }

  void standardise_integers(span<criteo_row const> pilot) {
    auto const count = static_cast<double>(pilot.size());
    for (std::size_t number = 0; number < criteo_integers; ++number) {
      double sum = 0;
      double squares = 0;
      for (auto const& row : pilot) {
        double const value = log_feature(row.integers[number]);
        sum += value;
        squares += value * value;
      }
      auto const mean = sum / count;
      auto const deviation = std::sqrt(std::max(0.0, squares / count - mean * mean));
      auto const sign = (mix(seed_, 1 + number) & 1U) != 0 ? 1.0 : -1.0;
      slopes_[number] = deviation > 0 ? sign / deviation : 0.0;
      means_[number] = mean;
    }
  }

  [[nodiscard]] random_stream normals(std::size_t field, raw_id id) const noexcept {
    return {mix(seed_ + field, id)};
  }

  [[nodiscard]] terms measure(criteo_row const& row) const noexcept {
    terms sums;
    std::array<random_stream, criteo_categories> of_id;
    for (std::size_t field = 0; field < criteo_categories; ++field) {
      of_id[field] = normals(field, row.category(field));
      sums.linear += static_cast<double>(of_id[field].normal(0));
    }
    for (std::size_t factor = 1; factor <= rank_; ++factor) {
      std::array<double, criteo_categories> v;
      for (auto const field : paired_fields) {
        v[field] = static_cast<double>(of_id[field].normal(factor));
      }
      for (auto const& [first, second] : pairs_) {
        sums.interactions += v[first] * v[second];
      }
    }
    for (std::size_t number = 0; number < criteo_integers; ++number) {
      double const value = log_feature(row.integers[number]);
      sums.integers += slopes_[number] * (value - means_[number]);
    }
    return sums;
  }

  [[nodiscard]] double weigh(terms const& sums) const noexcept {
    return linear_ * sums.linear + interactions_ * sums.interactions + integers_ * sums.integers;
  }

  /// What a term must be multiplied by to have the deviation `wanted`.
  [[nodiscard]] static double factor(std::vector<terms> const& measured, double terms::* term,
                                     double wanted) {
    expects(wanted >= 0, "the deviation of a term of the signal must not be negative");
    double sum = 0;
    double squares = 0;
    for (auto const& sums : measured) {
      sum += sums.*term;
      squares += sums.*term * (sums.*term);
    }
    auto const count = static_cast<double>(measured.size());
    auto const variance = squares / count - sum / count * (sum / count);
    return variance > 0 ? wanted / std::sqrt(variance) : 0.0;
  }

  [[nodiscard]] double find_bias(std::vector<terms> const& measured, double click_rate) const {
    auto low = -100.0;
    auto high = 100.0;
    for (std::size_t step = 0; step < pilot_steps; ++step) {
      auto const middle = (low + high) / 2;
      double clicks = 0;
      for (auto const& sums : measured) {
        clicks += 1 / (1 + std::exp(-middle - weigh(sums)));
      }
      (clicks < click_rate * static_cast<double>(measured.size()) ? low : high) = middle;
    }
    return (low + high) / 2;
  }

  std::uint64_t seed_;
  std::size_t rank_;
  std::vector<std::pair<std::uint8_t, std::uint8_t>> pairs_;
  std::array<double, criteo_integers> slopes_ = {};
  std::array<double, criteo_integers> means_ = {};
  double linear_ = 0;
  double interactions_ = 0;
  double integers_ = 0;
  double bias_ = 0;
};

}  // namespace inlay::inline INLAY_ABI
