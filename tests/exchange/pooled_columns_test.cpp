#include <inlay/exchange/pooled_columns.hpp>

#include "deadlines.hpp"

#include <inlay/batch/batch.hpp>
#include <inlay/exchange/run_ranks.hpp>
#include <inlay/exchange/self_comm.hpp>
#include <inlay/exchange/thread_comm.hpp>
#include <inlay/testing/trial.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

using inlay::batch_view;
using inlay::pooled_columns;
using inlay::run_ranks;
using inlay::thread_comm;
using inlay::testing::trial;

namespace {

/// One id and its weight.
struct use {
  inlay::raw_id id;
  float weight;
  bool operator==(use const&) const = default;
};
using bag = std::vector<use>;

/// Samples of all ranks, which of them are whose, and which ranks know weights.
struct global_samples {
  std::vector<inlay::pooled_field> fields;
  std::size_t stride = 0;
  std::vector<std::size_t> rows;       // (ranks)
  std::vector<bool> weighs;            // (ranks)
  std::vector<std::vector<bag>> bags;  // (all rows, fields)

  global_samples(trial& draw, std::size_t ranks) {
    auto const tables = 1 + draw.below(2 * ranks);
    fields.resize(1 + draw.below(9));
    for (auto& field : fields) {
      field = {static_cast<inlay::table_id>(draw.below(tables)), stride, 1 + draw.below(5)};
      stride += field.dim + draw.below(2);  // a gap, which belongs to nobody
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      rows.push_back(draw.chance(20) ? 0 : draw.below(9));
      weighs.push_back(draw.chance(30));
      for (std::size_t row = 0; row < rows[rank]; ++row) {
        bags.emplace_back();
        for (std::size_t field = 0; field < fields.size(); ++field) {
          bags.back().push_back(some_bag(draw, weighs[rank]));
        }
      }
    }
  }

  static bag some_bag(trial& draw, bool weighs) {
    bag result(draw.below(4));
    for (auto& one : result) {
      one = {draw.below(1000), weighs ? static_cast<float>(draw.below(9)) : 1.0F};
    }
    return result;
  }

  [[nodiscard]] std::size_t first_row(std::size_t rank) const {
    std::size_t first = 0;
    for (std::size_t before = 0; before < rank; ++before)
      first += rows[before];
    return first;
  }

  /// A rank's part as it is given to the exchange.
  void fill(std::size_t rank, inlay::batch& into) const {
    into.reset_bags({rows[rank], fields.size(), 0});
    for (std::size_t field = 0; field < fields.size(); ++field) {
      for (std::size_t row = 0; row < rows[rank]; ++row) {
        std::vector<inlay::raw_id> ids;
        std::vector<float> weights;
        for (auto const& one : bags[first_row(rank) + row][field]) {
          ids.push_back(one.id);
          weights.push_back(one.weight);
        }
        if (weighs[rank]) {
          into.add_bag({ids.data(), ids.size()}, {weights.data(), weights.size()});
        } else {
          into.add_bag({ids.data(), ids.size()});
        }
      }
    }
  }
};

bag bag_of(batch_view const& batch, std::size_t field, std::size_t row) {
  bag result;
  auto const at = batch.bag(field, row);
  for (auto i = batch.offsets[at]; i < batch.offsets[at + 1]; ++i) {
    result.push_back({batch.ids[i], batch.weights.empty() ? 1.0F : batch.weights[i]});
  }
  return result;
}

/// A value that tells sample, field and column: what is pooled, or a gradient.
float value_of(std::size_t row, std::size_t field, std::size_t column) {
  return static_cast<float>(1 + column + 8 * field + 128 * row);
}

/// The values of all samples and own fields.
std::vector<float> own_values(global_samples const& all, std::vector<std::size_t> const& own) {
  std::vector<float> values;
  for (std::size_t row = 0; row < all.bags.size(); ++row) {
    for (auto const field : own) {
      for (std::size_t column = 0; column < all.fields[field].dim; ++column) {
        values.push_back(value_of(row, field, column));
      }
    }
  }
  return values;
}

/// The values of a rank's samples and all fields, and -1 in between.
std::vector<float> local_values(global_samples const& all, std::size_t rank) {
  std::vector<float> values(all.rows[rank] * all.stride, -1.0F);
  for (std::size_t row = 0; row < all.rows[rank]; ++row) {
    for (std::size_t field = 0; field < all.fields.size(); ++field) {
      for (std::size_t column = 0; column < all.fields[field].dim; ++column) {
        values[row * all.stride + all.fields[field].column + column] =
            value_of(all.first_row(rank) + row, field, column);
      }
    }
  }
  return values;
}

template <class Comm>
void check_step(Comm& comm, pooled_columns& exchange, global_samples const& all, trial const& law) {
  auto const rank = comm.rank();
  inlay::batch mine;
  all.fill(rank, mine);
  auto const whole = exchange.request(comm, mine.view(), in_a_minute());
  auto const& own = exchange.own_fields();
  law.require(exchange.rows() == all.rows, "every rank knows the samples of each");
  law.require(whole.rows == all.bags.size() && whole.fields == own.size(),
              "an owner has all samples with its own fields");
  if (!own.empty()) inlay::check(whole);
  for (std::size_t row = 0; row < whole.rows; ++row) {
    for (std::size_t field = 0; field < own.size(); ++field) {
      law.require(index(all.fields[own[field]].table) % comm.size() == rank,
                  "a table lies on its number modulo the ranks");
      law.require(bag_of(whole, field, row) == all.bags[row][own[field]],
                  "bags arrive as they were, ranks in order");
    }
  }
  auto const before = [&] { return std::vector<float>(all.rows[rank] * all.stride, -1.0F); };
  auto columns = before();
  auto const pooled = own_values(all, own);
  exchange.columns(comm, {pooled.data(), whole.rows, exchange.own_width()}, in_a_minute(),
                   {columns.data(), all.rows[rank], all.stride});
  law.require(columns == local_values(all, rank), "pooled columns come to their samples");
  inlay::buffer<float> gradients;
  exchange.gradients(comm, {columns.data(), all.rows[rank], all.stride}, in_a_minute(), gradients);
  law.require(std::vector<float>(gradients.begin(), gradients.end()) == pooled,
              "gradients go the way of the columns back");
}

}  // namespace

TEST_CASE("pooled_columns: owners get their fields of all samples, and samples their columns") {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    for (std::size_t const ranks : {1U, 2U, 3U, 4U, 7U}) {
      trial draw("pooled_columns of " + std::to_string(ranks) + " ranks", seed);
      global_samples const first(draw, ranks);
      auto second = global_samples(draw, ranks);
      run_ranks(ranks, [&](thread_comm const& comm) {
        pooled_columns exchange(comm, first.fields);
        check_step(comm, exchange, first, draw);
        check_step(comm, exchange, first, draw);
        pooled_columns other(comm, second.fields);
        check_step(comm, other, second, draw);
      });
    }
  }
}

TEST_CASE("pooled_columns: what travels grows with samples and columns") {
  trial draw("pooled_columns", 3);
  global_samples const all(draw, 4);
  run_ranks(4, [&](thread_comm const& comm) {
    auto const rank = comm.rank();
    pooled_columns exchange(comm, all.fields);
    inlay::batch mine;
    all.fill(rank, mine);
    auto const whole = exchange.request(comm, mine.view(), in_a_minute());
    auto const pooled = own_values(all, exchange.own_fields());
    std::vector<float> local(all.rows[rank] * all.stride);
    std::size_t width = 0;
    for (auto const& field : all.fields)
      width += field.dim;
    auto const requested = comm.traffic();
    exchange.columns(comm, {pooled.data(), whole.rows, exchange.own_width()}, in_a_minute(),
                     {local.data(), all.rows[rank], all.stride});
    auto const sent = comm.traffic();
    inlay::buffer<float> own;
    exchange.gradients(comm, {local.data(), all.rows[rank], all.stride}, in_a_minute(), own);
    CHECK(sent - requested == 4 * (whole.rows - all.rows[rank]) * exchange.own_width());
    CHECK(comm.traffic() - sent == 4 * all.rows[rank] * (width - exchange.own_width()));
  });
}

TEST_CASE("pooled_columns: what a caller owes is a sentence") {
  inlay::self_comm comm;
  trial draw("pooled_columns", 4);
  global_samples const all(draw, 1);
  pooled_columns exchange(comm, all.fields);
  inlay::batch mine;
  std::vector<float> values(1000);
  auto const columns = [&](std::size_t rows, std::size_t cols, std::size_t stride) {
    exchange.columns(comm, {values.data(), rows, cols}, in_a_minute(),
                     {values.data(), all.rows[0], stride});
  };
  CHECK_THROWS_WITH_AS(columns(all.rows[0], exchange.own_width(), all.stride),
                       doctest::Contains("after a request"), inlay::error);
  all.fill(0, mine);
  (void)exchange.request(comm, mine.view(), in_a_minute());
  CHECK_THROWS_WITH_AS(columns(all.rows[0] + 1, exchange.own_width(), all.stride),
                       doctest::Contains("a row for each sample"), inlay::error);
  CHECK_THROWS_WITH_AS(columns(all.rows[0], exchange.own_width(), 1),
                       doctest::Contains("don't fit into a sample's"), inlay::error);
  mine.reset({1, all.fields.size() + 1, 0});
  CHECK_THROWS_WITH_AS((void)exchange.request(comm, mine.view(), in_a_minute()),
                       doctest::Contains("needs the fields"), inlay::error);
}
