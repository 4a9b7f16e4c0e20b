#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/random.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Ranks r = 1 .. `ranks` with probability proportional to (r + shift)^-exponent, without tables.
///
/// Rejection-inversion (Hörmann and Derflinger, "Rejection-inversion to generate variates from
/// monotone discrete distributions", 1996): a draw from the integral of the curve, rounded, and
/// kept if it lies under the bar of its rank. More than nine draws in ten are kept at once.
class zipf_mandelbrot {
 public:
  /// Rank r of `ranks` has a weight of (r + shift)^-exponent, r from 1.
  zipf_mandelbrot(std::uint32_t ranks, double shift, double exponent)
      : ranks_(ranks), shift_(shift), exponent_(exponent) {
    expects(ranks > 0, "a distribution of ranks needs at least one");
    expects(shift >= 0, "the shift of a Zipf-Mandelbrot distribution must not be negative");
    expects(exponent > 0, "the exponent of a Zipf-Mandelbrot distribution must be positive");
    first_ = integral(1.5) - height(1);
    last_ = integral(ranks + 0.5);
    // Left of its rank by up to this much a draw is under the bar for sure: the distance is least
    // for rank 2, and all that is drawn for rank 1 is under its bar.
    sure_ = 2 - inverse(integral(2.5) - height(2));
  }

  /// The rank of one sample: a function of the stream and of the first of the counters that it
  /// uses.
  [[nodiscard]] std::uint32_t operator()(random_stream const& random,
                                         std::uint64_t counter) const noexcept {
    for (;; ++counter) {
      auto const area = last_ + random.uniform_double(counter) * (first_ - last_);
      auto const place = inverse(area);
      auto const rank = std::clamp(std::floor(place + 0.5), 1.0, static_cast<double>(ranks_));
      if (rank - place <= sure_ || area >= integral(rank + 0.5) - height(rank)) {
        return static_cast<std::uint32_t>(rank);
      }
    }
  }

  /// How many ranks there are.
  [[nodiscard]] std::uint32_t ranks() const noexcept { return ranks_; }

  /// How likely a rank is, up to a factor that is the same for all.
  [[nodiscard]] double height(double rank) const noexcept {
    return std::pow(rank + shift_, -exponent_);
  }

 private:
  /// Integral of `height`, up to a constant: that which leaves the most digits where it is steep.
  [[nodiscard]] double integral(double rank) const noexcept {
    auto const rest = 1 - exponent_;
    return rest == 0 ? std::log(rank + shift_) : std::pow(rank + shift_, rest) / rest;
  }

  [[nodiscard]] double inverse(double area) const noexcept {
    auto const rest = 1 - exponent_;
    return (rest == 0 ? std::exp(area) : std::pow(area * rest, 1 / rest)) - shift_;
  }

  std::uint32_t ranks_;
  double shift_;
  double exponent_;
  double first_ = 0;  // where the area under the first bar begins
  double last_ = 0;   // where that under the last one ends
  double sure_ = 0;
};

}  // namespace inlay::inline INLAY_ABI
