#include "engine/training.hpp"

#include <inlay/cache/lru.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/optim/adagrad.hpp>
#include <inlay/optim/sgd.hpp>
#include <inlay/vsid/sort_mapper.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace {

using toy::dense_width;

/// The rules in double, as PAPERS.md writes them.
struct plain_rule {
  std::string name;
  double rate;
  double accumulator;

  [[nodiscard]] std::size_t state_size(std::size_t dim) const {
    if (name == "sgd") return 0;
    return name == "adagrad" ? dim : 1;
  }

  void update(double* row, double* state, std::vector<double> const& slope, double factor) const {
    auto const dim = slope.size();
    if (name == "rowwise_adagrad") {
      double squares = 0.0;
      for (auto const g : slope) {
        squares += g * g;
      }
      state[0] += squares / static_cast<double>(dim);
    }
    for (std::size_t i = 0; i < dim; ++i) {
      double divisor = 1.0;
      if (name == "adagrad") state[i] += slope[i] * slope[i];
      if (name != "sgd") divisor = std::sqrt(state[name == "adagrad" ? i : 0]) + double{1e-8F};
      row[i] -= rate * factor * slope[i] / divisor;
    }
  }
};

/// The same training, written as plainly as can be: a map of rows, one sample after another.
class plain_trainer {
 public:
  plain_trainer(inlay::shape shape, plain_rule rule, toy::network const& net)
      : shape_(std::move(shape)), rule_(std::move(rule)) {
    square_.assign(net.square().begin(), net.square().end());
    linear_.assign(net.linear().begin(), net.linear().end());
    square_.resize(square_.size() + 2 * rule_.state_size(net.width()), rule_.accumulator);
    linear_.resize(linear_.size() + rule_.state_size(net.linear().size()), rule_.accumulator);
    width_ = net.width();
  }

  void step(inlay::batch_view const& batch) {
    std::map<toy::row_name, std::vector<double>> slopes;
    std::vector<double> square_slope(2 * width_);
    std::vector<double> linear_slope(dense_width + 1);
    for (std::size_t row = 0; row < batch.rows; ++row) {
      auto const x = pooled(batch, row);
      auto const slope = 1.0 / (1.0 + std::exp(-logit(batch, row, x))) - batch.labels[row];
      std::vector<double> x_slope(width_);
      for (std::size_t c = 0; c < width_; ++c) {
        square_slope[c] += slope * x[c];
        square_slope[width_ + c] += slope * x[c] * x[c];
        x_slope[c] = slope * (square_[c] + 2.0 * square_[width_ + c] * x[c]);
      }
      for (std::size_t k = 0; k < dense_width; ++k) {
        linear_slope[k] += slope * batch.dense.row(row)[k];
      }
      linear_slope[dense_width] += slope;
      spread(batch, row, x_slope, slopes);
    }
    for (auto& [name, slope] : slopes) {
      move(at(name).data(), slope, batch.rows, shape_.tables[name.first].learning_rate_factor);
    }
    move_dense(square_, square_slope, 2, batch.rows);
    move_dense(linear_, linear_slope, 1, batch.rows);
  }

  [[nodiscard]] toy::outcome result() const {
    toy::outcome outcome;
    for (auto const& [name, row] : rows_) {
      outcome.rows[name].assign(row.begin(), row.end());
    }
    outcome.dense.assign(square_.begin(), square_.begin() + static_cast<long>(2 * width_));
    outcome.dense.insert(outcome.dense.end(), linear_.begin(),
                         linear_.begin() + static_cast<long>(dense_width + 1));
    return outcome;
  }

 private:
  std::vector<double>& at(toy::row_name const& name) {
    auto const found = rows_.find(name);
    if (found != rows_.end()) return found->second;
    auto const& table = shape_.tables[name.first];
    inlay::random_stream const random{inlay::mix(inlay::mix(shape_.seed, name.first), name.second)};
    std::vector<double> row;
    for (std::size_t i = 0; i < table.dim; ++i) {
      row.push_back((2.0F * random.uniform(i) - 1.0F) * table.initial_scale);
    }
    row.resize(table.dim + rule_.state_size(table.dim), rule_.accumulator);
    return rows_[name] = row;
  }

  /// Calls each(row name, first column, dim, factor) for every occurrence of a sample.
  template <class Each>
  void for_each_id(inlay::batch_view const& batch, std::size_t row, Each const& each) {
    std::size_t column = 0;
    for (std::size_t field = 0; field < batch.fields; ++field) {
      auto const table = inlay::index(shape_.field_tables[field]);
      auto const dim = shape_.tables[table].dim;
      auto const first = batch.offsets[batch.bag(field, row)];
      auto const last = batch.offsets[batch.bag(field, row) + 1];
      auto const weight = [&](std::size_t i) {
        return batch.weights.empty() ? 1.0 : double{batch.weights[i]};
      };
      double weights = 0.0;
      for (auto i = first; i < last; ++i) {
        weights += weight(i);
      }
      for (auto i = first; i < last; ++i) {
        auto factor = weight(i);
        if (shape_.tables[table].pooling == "mean") factor = weights == 0 ? 0 : factor / weights;
        each(toy::row_name{table, batch.ids[i]}, column, dim, factor);
      }
      column += dim;
    }
  }

  std::vector<double> pooled(inlay::batch_view const& batch, std::size_t row) {
    std::vector<double> x(width_);
    for_each_id(batch, row, [&](auto const& name, std::size_t column, std::size_t dim, double f) {
      auto const& from = at(name);
      for (std::size_t i = 0; i < dim; ++i) {
        x[column + i] += f * from[i];
      }
    });
    return x;
  }

  void spread(inlay::batch_view const& batch, std::size_t row, std::vector<double> const& x_slope,
              std::map<toy::row_name, std::vector<double>>& slopes) {
    for_each_id(batch, row, [&](auto const& name, std::size_t column, std::size_t dim, double f) {
      auto& into = slopes[name];
      into.resize(dim);
      for (std::size_t i = 0; i < dim; ++i) {
        into[i] += f * x_slope[column + i];
      }
    });
  }

  [[nodiscard]] double logit(inlay::batch_view const& batch, std::size_t row,
                             std::vector<double> const& x) const {
    auto sum = linear_[dense_width];
    for (std::size_t c = 0; c < width_; ++c) {
      sum += square_[c] * x[c] + square_[width_ + c] * x[c] * x[c];
    }
    for (std::size_t k = 0; k < dense_width; ++k) {
      sum += linear_[k] * batch.dense.row(row)[k];
    }
    return sum;
  }

  void move(double* row, std::vector<double> slope, std::size_t samples, double factor) const {
    for (auto& g : slope) {
      g /= static_cast<double>(samples);
    }
    rule_.update(row, row + slope.size(), slope, factor);
  }

  void move_dense(std::vector<double>& tensor, std::vector<double> const& slope, std::size_t rows,
                  std::size_t samples) const {
    auto const cols = slope.size() / rows;
    auto const state = rule_.state_size(cols);
    for (std::size_t r = 0; r < rows; ++r) {
      auto const* const from = slope.data() + r * cols;
      std::vector<double> row(tensor.begin() + static_cast<long>(r * cols),
                              tensor.begin() + static_cast<long>((r + 1) * cols));
      auto const state_at = tensor.begin() + static_cast<long>(rows * cols + r * state);
      row.insert(row.end(), state_at, state_at + static_cast<long>(state));
      move(row.data(), {from, from + cols}, samples, shape_.dense_learning_rate_factor);
      std::copy_n(row.begin(), cols, tensor.begin() + static_cast<long>(r * cols));
      std::copy_n(row.begin() + static_cast<long>(cols), state, state_at);
    }
  }

  inlay::shape shape_;
  plain_rule rule_;
  std::map<toy::row_name, std::vector<double>> rows_;
  std::vector<double> square_;  // (2, width), then state
  std::vector<double> linear_;
  std::size_t width_ = 0;
};

using any_pooling = inlay::one_of<inlay::sum, inlay::mean>;
using any_optimizer = inlay::one_of<inlay::sgd, inlay::adagrad, inlay::rowwise_adagrad>;
using any_cache = inlay::one_of<inlay::lru, inlay::sieve>;

toy::outcome plainly(inlay::shape const& shape, plain_rule const& rule,
                     std::vector<inlay::batch> const& batches) {
  plain_trainer trainer(shape, rule, toy::network(toy::width_of(shape), dense_width));
  for (auto const& batch : batches) {
    trainer.step(batch.view());
  }
  return trainer.result();
}

TEST_CASE("engine: trains as a plain map of rows does, whatever its parts") {
  for (std::uint64_t seed = 1; seed <= 2; ++seed) {
    CAPTURE(seed);
    auto const batches = toy::some_batches(12, 150, seed);
    auto shape = toy::mixed_shape();
    shape.tables[1].pooling = "mean";
    shape.tables[2].pooling = "mean";
    for (auto const* const name : {"sgd", "adagrad", "rowwise_adagrad"}) {
      CAPTURE(name);
      auto const accumulator = 0.1F;
      auto const rate = 0.05F;
      any_optimizer optimizer = inlay::sgd{.learning_rate = rate};
      if (name == std::string("adagrad")) {
        optimizer = inlay::adagrad{.learning_rate = rate, .initial_accumulator = accumulator};
      } else if (name == std::string("rowwise_adagrad")) {
        optimizer =
            inlay::rowwise_adagrad{.learning_rate = rate, .initial_accumulator = accumulator};
      }
      auto const expected = plainly(shape, {name, rate, accumulator}, batches);
      shape.cache_rows = 0;
      auto const in_place = toy::train(shape,
                                       inlay::parts{.exec = inlay::host_exec(2),
                                                    .pooling = any_pooling{},
                                                    .optimizer = optimizer},
                                       batches, batches.size());
      CHECK(toy::distance(expected, in_place) < 2e-6);
      shape.cache_rows = toy::smallest_cache(shape, batches);
      for (auto const* const policy : {"lru", "sieve"}) {
        auto const cached = toy::train(shape,
                                       inlay::parts{.exec = inlay::host_exec(2),
                                                    .mapper = inlay::sort_mapper{},
                                                    .cache = any_cache::named(policy),
                                                    .pooling = any_pooling{},
                                                    .optimizer = optimizer,
                                                    .sums = inlay::fixed_sums{}},
                                       batches, batches.size());
        CHECK(toy::distance(expected, cached) < 2e-6);
        CHECK(cached.figures.rows.evictions > 0);
      }
    }
  }
}

TEST_CASE("engine: one pooling for all tables is what each table may name") {
  auto const batches = toy::some_batches(3, 40, 5);
  auto shape = toy::mixed_shape();
  auto named = shape;
  for (auto& table : named.tables) {
    table.pooling = "mean";
  }
  auto const plain = toy::train(shape, inlay::parts{.pooling = inlay::mean{}}, batches, 3);
  CHECK(toy::train(named, inlay::parts{.pooling = inlay::mean{}}, batches, 3) == plain);
  CHECK(toy::train(named, inlay::parts{.pooling = any_pooling{}}, batches, 3) == plain);
  CHECK(toy::train(shape, inlay::parts{.pooling = any_pooling{inlay::mean{}}}, batches, 3) ==
        plain);
  CHECK_FALSE(toy::train(shape, inlay::parts{}, batches, 3) == plain);
  CHECK_THROWS_WITH_AS(inlay::engine(named, inlay::parts{}),
                       doctest::Contains("a table names another pooling"), inlay::error);
  named.tables[0].pooling = "median";
  CHECK_THROWS_WITH_AS((inlay::engine{named, inlay::parts{.pooling = any_pooling{}}}),
                       doctest::Contains("there is no 'median' here"), inlay::error);
}

}  // namespace
