#pragma once

#include <inlay/batch/batch.hpp>
#include <inlay/batch/batch_source.hpp>
#include <inlay/batch/criteo_row.hpp>
#include <inlay/batch/criteo_shape.hpp>
#include <inlay/batch/planted_signal.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/hash.hpp>
#include <inlay/core/random.hpp>
#include <inlay/core/views.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// What the generated samples are like.
struct synthetic_options {
  std::uint64_t rows = 100'000;  ///< samples
  double scale = 0.01;           ///< of the number of ids of large fields; 1 is Criteo Kaggle's
  std::uint64_t cap = 200'000;   ///< most ids of a field
  std::uint64_t seed = 1;        ///< of everything
  signal_options signal = {};    ///< what makes a click likely
};

/// Clicks that look like Criteo's, at any size and without a file: popularity of ids, missing
/// values and integers follow `criteo_shape`, labels a `planted_signal` whose logit is known.
///
/// A sample is computed from (seed, its number), never stored. It does not depend on `rows`, so a
/// larger set begins with the smaller one.
class synthetic {
 public:
  /// Plants the signal; samples are computed when they are read.
  explicit synthetic(synthetic_options const& options = {})
      : options_(options),
        shape_(options.scale, options.cap),
        signal_(options.signal, mix(options.seed, signal_tag), pilot()) {}

  [[nodiscard]] std::uint64_t size() const noexcept { return options_.rows; }
  [[nodiscard]] std::size_t fields() const noexcept { return criteo_categories; }
  [[nodiscard]] std::size_t dense_width() const noexcept { return criteo_integers; }

  /// One id a bag, ids and dense features as in `criteo_tsv`. Samples must be below size().
  void read(span<std::uint64_t const> samples, batch& into) const {
    into.reset({samples.size(), fields(), dense_width()});
    for (std::size_t at = 0; at < samples.size(); ++at) {
      expects(samples[at] < size(), "a sample beyond the rows of the synthetic data was asked for");
      detail::put_criteo_row(row(samples[at]), at, into);
    }
  }

  /// A sample as a Criteo file would have it.
  [[nodiscard]] criteo_row row(std::uint64_t sample) const noexcept {
    auto result = shape_.draw(stream(row_tag, sample));
    auto const probability = 1 / (1 + std::exp(-signal_.logit(result)));
    if (stream(label_tag, 0).uniform_double(sample) < probability) {
      result.flags |= criteo_row::clicked;
    }
    return result;
  }

  /// The log-odds from which a sample's label was drawn: no model ranks better than this one.
  [[nodiscard]] double logit(std::uint64_t sample) const noexcept {
    return signal_.logit(shape_.draw(stream(row_tag, sample)));
  }

  /// What it was made with.
  [[nodiscard]] synthetic_options const& options() const noexcept { return options_; }

 private:
  static constexpr std::uint64_t pilot_rows = 20'000;
  static constexpr std::uint64_t row_tag = 1;
  static constexpr std::uint64_t label_tag = 2;
  static constexpr std::uint64_t signal_tag = 3;

  [[nodiscard]] random_stream stream(std::uint64_t tag, std::uint64_t sample) const noexcept {
    return {mix(mix(options_.seed, tag), sample)};
  }

  [[nodiscard]] std::vector<criteo_row> pilot() const {
    std::vector<criteo_row> rows;
    rows.reserve(pilot_rows);
    for (std::uint64_t sample = 0; sample < pilot_rows; ++sample) {
      rows.push_back(shape_.draw(stream(row_tag, sample)));
    }
    return rows;
  }

  synthetic_options options_;
  criteo_shape shape_;
  planted_signal signal_;
};
static_assert(batch_source<synthetic>);

}  // namespace inlay::inline INLAY_ABI
