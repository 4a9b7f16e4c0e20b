#pragma once

#include "row_numbers.hpp"
#include "timed_steps.hpp"
#include "value_files.hpp"

#include <inlay/batch/batch.hpp>
#include <inlay/batch/synthetic.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/optim/rowwise_adagrad.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

/// Which ids inlay is given: those of the data, 33 bits wide, or the row numbers of the others.
enum class id_kind { raw, dense };

/// Batches of ids without a network: what both sides look up.
class id_batches {
 public:
  /// Batches of `rows` samples in the order of the generator. Ids of large fields are as many as in
  /// Criteo Kaggle's seven days, whatever the number of batches.
  id_batches(std::size_t rows, std::size_t count, std::uint64_t seed)
      : numbers_(inlay::criteo_categories), raw_(count), dense_(count) {
    inlay::synthetic const clicks(
        {.rows = rows * count, .scale = 1.0, .cap = 20'000'000, .seed = seed});
    std::vector<std::uint64_t> samples(rows);
    for (std::size_t b = 0; b < count; ++b) {
      std::iota(samples.begin(), samples.end(), b * rows);
      clicks.read({samples.data(), samples.size()}, raw_[b]);
      auto const numbers = numbers_.of(raw_[b].view());
      dense_[b].reset({rows, clicks.fields(), clicks.dense_width()});
      std::copy(numbers.begin(), numbers.end(), dense_[b].ids().begin());
      std::fill(dense_[b].labels().begin(), dense_[b].labels().end(), 0.0F);
      std::fill_n(dense_[b].dense().data, dense_[b].dense().size(), 0.0F);
    }
  }

  /// Writes row numbers, field-major by batch, and the sizes of tables.
  void write(std::string const& folder) {
    std::vector<std::int64_t> all;
    for (auto const& content : dense_) {
      auto const ids = content.view().ids;
      all.insert(all.end(), ids.begin(), ids.end());
    }
    write_values(folder + "/ids.i64", all);  // (batches, fields, rows)
    write_values(folder + "/table_rows.i64", numbers_.table_rows());
  }

  [[nodiscard]] std::vector<inlay::batch> const& of(id_kind kind) const {
    return kind == id_kind::raw ? raw_ : dense_;
  }
  [[nodiscard]] row_numbers const& numbers() const { return numbers_; }

 private:
  row_numbers numbers_;
  std::vector<inlay::batch> raw_;
  std::vector<inlay::batch> dense_;
};

/// What the script chooses of an engine without a network.
struct embedding_knobs {
  std::size_t dim = 16;
  std::size_t threads = 1;
  id_kind ids = id_kind::raw;
  float learning_rate = 0.01F;
  float epsilon = 1e-8F;
};

/// The engine that does: rows in place, sums in the fastest order.
[[nodiscard]] inline auto embedding_engine(embedding_knobs const& knobs) {
  auto const shape = inlay::shape::one_table_per_field(inlay::criteo_categories, knobs.dim);
  return inlay::engine{
      shape, inlay::parts{.exec = inlay::host_exec{knobs.threads},
                          .optimizer = inlay::rowwise_adagrad{.learning_rate = knobs.learning_rate,
                                                              .epsilon = knobs.epsilon}}};
}

/// inlay's side of the comparison without a network: look up, pool, sum gradients, move rows.
class embedding_side {
 public:
  /// `gradient`: of the pooled embeddings, the same in every step. // (rows, fields * dim)
  embedding_side(embedding_knobs const& knobs, id_batches const& batches,
                 std::vector<float> gradient)
      : kind_(knobs.ids),
        batches_(batches),
        gradient_(std::move(gradient)),
        trainer_(embedding_engine(knobs)) {}

  /// Trains on `count` batches from number `first` on, round and round.
  [[nodiscard]] steps_taken steps(std::size_t first, std::size_t count) {
    auto const& all = batches_.of(kind_);
    return timed_steps(trainer_, [&] {
      for (std::size_t at = first; at < first + count; ++at) {
        step(all[at % all.size()]);
      }
    });
  }

  /// Writes the rows as they are now, in the order of their numbers.
  void write_rows(std::string const& path) {
    std::vector<inlay::raw_id> row_ids;
    ::write_rows(path, trainer_, [&](std::size_t field) -> auto const& {
      auto const& raw_ids = batches_.numbers().ids(field);
      if (kind_ == id_kind::raw) return raw_ids;
      row_ids.resize(raw_ids.size());
      std::iota(row_ids.begin(), row_ids.end(), inlay::raw_id{0});
      return std::as_const(row_ids);
    });
  }

 private:
  /// A network that needs no time has left `gradient_` where the step wants it, as the tensor that
  /// the others are handed lies ready too. A step's memory is that of the step before, so it is
  /// written once.
  void step(inlay::batch const& content) {
    auto step = trainer_.begin(content);
    written_.resize(step.chunks().size());
    step.each_chunk([&](auto chunk, std::size_t) {
      auto const into = chunk.pooled_gradient();
      if (written_[chunk.number()] != into.data) {
        auto const first = std::min(chunk.number() * chunk_rows(content), content.shape().rows);
        std::copy_n(gradient_.data() + first * into.cols, into.size(), into.data);
        written_[chunk.number()] = into.data;
      }
      chunk.backward(into);
    });
    trainer_.finish(std::move(step));
  }

  /// Rows of every chunk but the last, of which there are as many as threads.
  [[nodiscard]] std::size_t chunk_rows(inlay::batch const& content) const {
    auto const threads = trainer_.exec().threads();
    return (content.shape().rows + threads - 1) / threads;
  }

  id_kind kind_;
  id_batches const& batches_;
  std::vector<float> gradient_;
  std::vector<float const*> written_;  // by chunk, where the gradient lies already
  decltype(embedding_engine({})) trainer_;
};
