#pragma once

#include "row_numbers.hpp"
#include "timed_steps.hpp"
#include "value_files.hpp"

#include <inlay/batch/batch.hpp>
#include <inlay/batch/loader.hpp>
#include <inlay/batch/split.hpp>
#include <inlay/batch/synthetic.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/model/deepfm.hpp>
#include <inlay/model/log_loss.hpp>
#include <inlay/optim/adagrad.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// Clicks as `train_ctr` meets them, all of them in memory, so that no side waits for data: those
/// to train on in batches, in the order of all epochs, and those to test on.
class click_batches {
 public:
  /// What the script chooses.
  struct knobs {
    std::uint64_t rows = 100'000;
    std::uint64_t epochs = 4;
    std::size_t batch = 256;
    std::uint64_t seed = 1;
  };

  explicit click_batches(knobs const& chosen)
      : chosen_(chosen), numbers_(inlay::criteo_categories) {
    inlay::synthetic const clicks({.rows = chosen.rows, .seed = chosen.seed});
    auto halves = inlay::split_by_time(clicks);
    inlay::loader train(clicks, std::move(halves.train),
                        {.seed = chosen.seed, .epochs = chosen.epochs, .read_ahead = 0});
    inlay::loader test(clicks, std::move(halves.test),
                       {.read_ahead = 0, .order = inlay::sample_order::given});
    positions_ = train.size();
    train_ = batches(train, chosen.batch);
    test_ = batches(test, 4096);
  }

  /// Writes both halves: <half>_ids.i64 (samples, fields), the row numbers; <half>_dense.f32
  /// (samples, dense features) and <half>_labels.f32 (samples); and the sizes of tables.
  void write(std::string const& folder) {
    write_half(folder + "/train", train_);
    write_half(folder + "/test", test_);
    write_values(folder + "/table_rows.i64", numbers_.table_rows());
  }

  // A sample stream: `engine::next` asks for one batch after the other.
  [[nodiscard]] std::uint64_t size() const { return positions_; }
  [[nodiscard]] inlay::batch_view read(inlay::sample_range const& range) const {
    return train_[range.first / chosen_.batch].view();
  }

  [[nodiscard]] knobs const& chosen() const { return chosen_; }
  [[nodiscard]] std::vector<inlay::batch> const& test() const { return test_; }
  [[nodiscard]] row_numbers const& numbers() const { return numbers_; }

 private:
  [[nodiscard]] static std::vector<inlay::batch> batches(inlay::loader& from, std::size_t rows) {
    std::vector<inlay::batch> all;
    for (std::uint64_t first = 0; first < from.size(); first += rows) {
      auto const seen = from.read({first, std::min(first + rows, from.size())});
      auto& copy = all.emplace_back();
      copy.reset({seen.rows, seen.fields, seen.dense.cols});
      std::copy(seen.ids.begin(), seen.ids.end(), copy.ids().begin());
      std::copy_n(seen.dense.data, seen.dense.size(), copy.dense().data);
      std::copy(seen.labels.begin(), seen.labels.end(), copy.labels().begin());
    }
    return all;
  }

  void write_half(std::string const& path, std::vector<inlay::batch> const& half) {
    std::vector<std::int64_t> ids;
    std::vector<float> dense;
    std::vector<float> labels;
    for (auto const& content : half) {
      auto const view = content.view();
      auto const numbers = numbers_.of(view);
      for (std::size_t row = 0; row < view.rows; ++row) {
        for (std::size_t field = 0; field < view.fields; ++field) {
          ids.push_back(numbers[view.bag(field, row)]);
        }
      }
      dense.insert(dense.end(), view.dense.data, view.dense.data + view.dense.size());
      labels.insert(labels.end(), view.labels.begin(), view.labels.end());
    }
    write_values(path + "_ids.i64", ids);
    write_values(path + "_dense.f32", dense);
    write_values(path + "_labels.f32", labels);
  }

  knobs chosen_;
  row_numbers numbers_;
  std::uint64_t positions_ = 0;
  std::vector<inlay::batch> train_;
  std::vector<inlay::batch> test_;
};

inline constexpr std::size_t deepfm_dim = 16;  ///< columns of a row, as in `train_ctr`

/// The engine that `train_ctr --model deepfm` makes of its defaults.
[[nodiscard]] inline auto deepfm_engine(std::size_t threads, click_batches::knobs const& chosen) {
  auto shape = inlay::shape::one_table_per_field(inlay::criteo_categories, deepfm_dim);
  shape.batch = chosen.batch;
  shape.seed = chosen.seed;
  return inlay::engine{
      shape, inlay::parts{.exec = inlay::host_exec{threads},
                          .optimizer =
                              inlay::adagrad{.learning_rate = 0.1F, .initial_accumulator = 0.01F}}};
}

/// inlay's side of the comparison with a network.
class deepfm_side {
 public:
  deepfm_side(std::size_t threads, click_batches const& clicks)
      : clicks_(clicks),
        trainer_(deepfm_engine(threads, clicks.chosen())),
        network_(network(clicks)) {
    trainer_.attach(network_.parameters(), network_.gradients());
    for (std::size_t worker = 0; worker < threads; ++worker) {
      workspaces_.push_back(network_.make_workspace());
    }
    losses_.resize(threads);
  }

  /// Trains on the next `count` batches, or on those that are left.
  [[nodiscard]] steps_taken steps(std::size_t count) {
    return timed_steps(trainer_, [&] {
      for (std::size_t done = 0; done < count && step(); ++done) {}
    });
  }

  /// Writes the rows as they are now, in the order of their numbers.
  void write_rows(std::string const& path) {
    ::write_rows(path, trainer_,
                 [&](std::size_t field) -> auto const& { return clicks_.numbers().ids(field); });
  }

  /// Writes the network's parameters, tensor after tensor.
  void write_parameters(std::string const& path) {
    std::vector<float> all;
    for (auto const& tensor : network_.parameters()) {
      all.insert(all.end(), tensor.data, tensor.data + tensor.size());
    }
    write_values(path, all);
  }

  /// Writes what it says of the samples to test on.
  void write_logits(std::string const& path) {
    std::vector<float> all;
    for (auto const& content : clicks_.test()) {
      auto const seen = trainer_.lookup(content.view());
      auto const logits = network_.forward(seen.pooled, seen.dense);
      all.insert(all.end(), logits.begin(), logits.end());
    }
    write_values(path, all);
  }

 private:
  [[nodiscard]] static inlay::deepfm network(click_batches const& clicks) {
    auto const shape = clicks.test()[0].shape();
    return inlay::deepfm({.fields = shape.fields,
                          .dim = deepfm_dim,
                          .dense_width = shape.dense_width,
                          .hidden = {64, 32},
                          .seed = clicks.chosen().seed});
  }

  /// One step as in examples/training.hpp; false where there is none left.
  bool step() {
    auto step = trainer_.next(clicks_);
    if (!step) return false;
    step->each_chunk([&](auto chunk, std::size_t worker) {
      auto& workspace = workspaces_[worker];
      auto const logits = network_.forward(chunk.pooled(), chunk.dense(), workspace);
      auto const loss = losses_[worker](logits, chunk.labels());
      chunk.backward(network_.backward(loss, workspace), workspace.gradients());
    });
    trainer_.finish(std::move(*step));
    return true;
  }

  click_batches const& clicks_;
  decltype(deepfm_engine(1, {})) trainer_;
  inlay::deepfm network_;
  std::vector<inlay::deepfm::workspace> workspaces_;  // by worker
  std::vector<inlay::log_loss> losses_;               // by worker
};
