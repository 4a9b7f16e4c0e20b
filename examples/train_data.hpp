#pragma once

#include "train_options.hpp"

#include <inlay/batch/criteo_tsv.hpp>
#include <inlay/batch/loader.hpp>
#include <inlay/batch/movielens_csv.hpp>
#include <inlay/batch/split.hpp>
#include <inlay/batch/synthetic.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

/// Loaders over the two halves of a run's samples. Each rank has its own.
struct train_loaders {
  std::unique_ptr<inlay::loader> train;
  std::unique_ptr<inlay::loader> test;
};

/// The samples of a run: a source, and which of them are for training.
class train_data {
 public:
  explicit train_data(train_options const& options)
      : source_(open(options)), order_{.seed = options.seed, .epochs = options.epochs} {
    std::visit(
        [&](auto const& source) {
          auto halves = *options.split == "time"
                            ? inlay::split_by_time(source)
                            : inlay::split_by_chance(source.size(), options.seed);
          train_samples_ = std::move(halves.train);
          test_samples_ = std::move(halves.test);
        },
        source_);
    inlay::expects(!train_samples_.empty(), "there is no sample to train on");
  }

  /// Loaders of one's own; the data must outlive them.
  [[nodiscard]] train_loaders open_loaders() const {
    return std::visit(
        [&](auto const& source) {
          return train_loaders{std::make_unique<inlay::loader>(source, train_samples_, order_),
                               std::make_unique<inlay::loader>(
                                   source, test_samples_,
                                   inlay::loader_options{.order = inlay::sample_order::given})};
        },
        source_);
  }

  [[nodiscard]] std::size_t fields() const {
    return std::visit([](auto const& source) { return source.fields(); }, source_);
  }
  [[nodiscard]] std::size_t dense_width() const {
    return std::visit([](auto const& source) { return source.dense_width(); }, source_);
  }
  [[nodiscard]] std::uint64_t samples() const {
    return std::visit([](auto const& source) { return std::uint64_t{source.size()}; }, source_);
  }

  [[nodiscard]] std::uint64_t skipped_lines() const {
    return std::visit(
        [](auto const& source) {
          if constexpr (requires { source.skipped_lines(); }) {
            return source.skipped_lines();
          } else {
            return std::uint64_t{0};
          }
        },
        source_);
  }

  /// The log-odds that drew the test labels, where the source knows them.
  [[nodiscard]] std::optional<std::vector<float>> oracle_logits() const {
    auto const* const generator = std::get_if<inlay::synthetic>(&source_);
    if (generator == nullptr) return std::nullopt;
    std::vector<float> logits;
    logits.reserve(test_samples_.size());
    for (auto const sample : test_samples_) {
      logits.push_back(static_cast<float>(generator->logit(sample)));
    }
    return logits;
  }

 private:
  using any_source = std::variant<inlay::synthetic, inlay::criteo_tsv, inlay::movielens_csv>;

  [[nodiscard]] static any_source open(train_options const& options) {
    auto const bad_lines =
        options.skip_bad_lines ? inlay::bad_lines::skip : inlay::bad_lines::reject;
    auto const path_of = [&](std::string const& kind) {
      return options.data.starts_with(kind) ? options.data.substr(kind.size()) : std::string();
    };
    if (options.data == "synthetic") {
      return inlay::synthetic({.rows = *options.rows, .seed = options.seed});
    }
    if (auto const path = path_of("criteo:"); !path.empty())
      return inlay::criteo_tsv(path, bad_lines);
    if (auto const path = path_of("movielens:"); !path.empty()) {
      return inlay::movielens_csv(path, bad_lines);
    }
    inlay::fail("--data is synthetic, criteo:FILE or movielens:FILE, and not " + options.data);
  }

  any_source source_;
  inlay::loader_options order_;
  std::vector<std::uint64_t> train_samples_;
  std::vector<std::uint64_t> test_samples_;
};
