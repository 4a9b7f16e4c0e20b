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

/// The samples of a run: a source, and loaders over its two halves.
class train_data {
 public:
  explicit train_data(train_options const& options) : source_(open(options)) {
    std::visit(
        [&](auto const& source) {
          auto halves = *options.split == "time"
                            ? inlay::split_by_time(source)
                            : inlay::split_by_chance(source.size(), options.seed);
          test_samples_ = halves.test;
          train_ = std::make_unique<inlay::loader>(
              source, std::move(halves.train),
              inlay::loader_options{.seed = options.seed, .epochs = options.epochs});
          test_ = std::make_unique<inlay::loader>(
              source, std::move(halves.test),
              inlay::loader_options{.order = inlay::sample_order::given});
        },
        source_);
    inlay::expects(train_->size() > 0, "there is no sample to train on");
  }

  [[nodiscard]] inlay::loader& train() noexcept { return *train_; }
  [[nodiscard]] inlay::loader& test() noexcept { return *test_; }
  [[nodiscard]] std::size_t fields() const noexcept { return train_->fields(); }
  [[nodiscard]] std::size_t dense_width() const noexcept { return train_->dense_width(); }
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
  std::vector<std::uint64_t> test_samples_;
  std::unique_ptr<inlay::loader> train_;
  std::unique_ptr<inlay::loader> test_;
};
