// Widths, tables and batches at the ends of what there is.

#include "engine/training.hpp"
#include "sanitized.hpp"

#include <inlay/cache/lru.hpp>
#include <inlay/core/random.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/optim/sgd.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

using inlay::host_exec;
using inlay::parts;

/// Two multi-hot fields with ids 0 to `distinct` - 1, some bags empty.
inlay::batch some_batch(std::size_t rows, std::size_t distinct) {
  return inlay::testing::random_batch(
      {.rows = rows, .fields = 2, .dense_width = 0, .most_ids = 5, .distinct = distinct}, 41);
}

/// The gradient of column c of any row is c + 1.
template <class Engine>
void train(Engine& trainer, inlay::batch const& content, std::size_t dim) {
  auto step = trainer.begin(content.view());
  for (auto chunk : step.chunks()) {
    auto const gradient = chunk.pooled_gradient();
    for (std::size_t row = 0; row < gradient.rows; ++row) {
      for (std::size_t col = 0; col < gradient.cols; ++col) {
        gradient.row(row)[col] = static_cast<float>(col % dim + 1);
      }
    }
    chunk.backward(gradient);
  }
  trainer.finish(std::move(step));
}

/// How often each id of each field occurs.
std::vector<std::vector<std::size_t>> counts(inlay::batch const& content, std::size_t distinct) {
  auto const view = content.view();
  std::vector<std::vector<std::size_t>> result(view.fields, std::vector<std::size_t>(distinct));
  for (std::size_t field = 0; field < view.fields; ++field) {
    for (auto i = view.offsets[view.bag(field, 0)]; i < view.offsets[view.bag(field, view.rows)];
         ++i) {
      ++result[field][view.ids[i]];
    }
  }
  return result;
}

template <class Cache>
void check_width(std::size_t dim, std::size_t distinct, Cache const& cache,
                 std::size_t cache_rows) {
  CAPTURE(dim);
  CAPTURE(distinct);
  auto shape = inlay::shape::one_table_per_field(2, dim);
  shape.cache_rows = cache_rows;
  for (auto& table : shape.tables) {
    table.initial_scale = 0.0F;
  }
  inlay::engine trainer{
      shape,
      parts{.exec = host_exec(2), .cache = cache, .optimizer = inlay::sgd{.learning_rate = 1.0F}}};
  auto const content = some_batch(64, distinct);
  train(trainer, content, dim);
  trainer.flush();
  auto const occurs = counts(content, distinct);
  std::size_t wrong = 0;
  trainer.for_each_row([&](inlay::table_id table, inlay::raw_id id, inlay::span<float const> row) {
    auto const count = static_cast<float>(occurs[inlay::index(table)][id]);
    for (std::size_t col = 0; col < dim; ++col) {
      // Exact: whole numbers, divided by 64.
      wrong += row[col] == -count * static_cast<float>(col + 1) / 64.0F ? 0U : 1U;
    }
  });
  CHECK(wrong == 0);
  CHECK(trainer.figures().table_rows > 0);
}

}  // namespace

TEST_CASE("engine: any width, from one column to 257") {
  for (std::size_t const dim :
       {1U, 2U, 7U, 8U, 9U, 15U, 16U, 17U, 31U, 64U, 128U, 255U, 256U, 257U}) {
    check_width(dim, 40, inlay::no_cache{}, 0);
    check_width(dim, 40, inlay::lru{}, 80);
  }
}

TEST_CASE("engine: tables of one row") {
  check_width(1, 1, inlay::no_cache{}, 0);
  check_width(16, 1, inlay::lru{}, 2);
}

TEST_CASE("engine: a column does not depend on how many there are beside it") {
  auto const columns = [](std::size_t dim) {
    auto shape = inlay::shape::one_table_per_field(2, dim);
    inlay::engine trainer{
        shape, parts{.exec = host_exec(1), .optimizer = inlay::sgd{.learning_rate = 0.3F}}};
    auto content = inlay::testing::random_batch({.rows = 300,
                                                 .fields = 2,
                                                 .dense_width = 0,
                                                 .most_ids = 9,
                                                 .distinct = 30,
                                                 .weights = inlay::testing::bag_weights::random},
                                                5);
    std::vector<float> seen;
    for (int round = 0; round < 3; ++round) {
      auto step = trainer.begin(content.view());
      for (auto chunk : step.chunks()) {
        auto const gradient = chunk.pooled_gradient();
        for (std::size_t row = 0; row < gradient.rows; ++row) {
          for (std::size_t col = 0; col < gradient.cols; ++col) {
            gradient.row(row)[col] = inlay::random_stream{col % dim}.normal(row * 2 + col / dim) *
                                     (chunk.pooled().row(row)[col] + 0.7F);
          }
        }
        chunk.backward(gradient);
      }
      trainer.finish(std::move(step));
    }
    for (auto const& [name, row] : toy::rows_of(trainer)) {
      seen.push_back(row[0]);
    }
    return seen;
  };
  auto const alone = columns(1);
  for (std::size_t const dim : {5U, 8U, 12U, 16U, 19U, 257U}) {
    CAPTURE(dim);
    CHECK(columns(dim) == alone);
  }
}

TEST_CASE("engine: a batch of 2^25 ids" * doctest::skip(is_sanitized)) {
  constexpr std::size_t rows = std::size_t{1} << 20U;
  constexpr std::size_t fields = 32;
  auto shape = inlay::shape::one_table_per_field(fields, 1);
  for (auto& table : shape.tables) {
    table.initial_scale = 0.0F;
  }
  inlay::engine trainer{
      shape, parts{.exec = host_exec(2), .optimizer = inlay::sgd{.learning_rate = 1.0F}}};
  inlay::batch content;
  content.reset({rows, fields, 0});
  for (std::size_t i = 0; i < content.ids().size(); ++i) {
    content.ids()[i] = i % rows / 4;  // each id of a field in four rows
  }
  std::fill(content.labels().begin(), content.labels().end(), 0.0F);
  train(trainer, content, 1);
  CHECK(trainer.figures().ids == std::uint64_t{1} << 25U);
  CHECK(trainer.figures().table_rows == rows / 4 * fields);
  std::size_t wrong = 0;
  trainer.for_each_row([&](inlay::table_id, inlay::raw_id, inlay::span<float const> row) {
    wrong += row[0] == -4.0F / static_cast<float>(rows) ? 0U : 1U;
  });
  CHECK(wrong == 0);
}
