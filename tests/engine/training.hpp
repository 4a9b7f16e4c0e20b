#pragma once

#include "engine/toy_network.hpp"

#include <inlay/engine/engine.hpp>
#include <inlay/testing/random_batch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace toy {

using row_name = std::pair<std::size_t, inlay::raw_id>;  // table, id
using row_map = std::map<row_name, std::vector<float>>;  // weights, then state

inline constexpr std::size_t dense_width = 3;

/// Four tables of two widths; six fields, of which two pairs share a table.
inline inlay::shape mixed_shape() {
  inlay::shape result;
  result.tables = {{.name = "user", .dim = 4, .initial_scale = 0.3F},
                   {.name = "item", .dim = 9, .initial_scale = 0.2F, .learning_rate_factor = 0.5F},
                   {.name = "shop", .dim = 4, .initial_scale = 0.1F, .learning_rate_factor = 2.0F},
                   {.name = "word", .dim = 9, .initial_scale = 0.2F}};
  for (auto const table : {0, 1, 0, 2, 3, 1}) {
    result.field_tables.push_back(static_cast<inlay::table_id>(table));
  }
  result.dense_learning_rate_factor = 0.5F;
  result.seed = 77;
  return result;
}

inline std::size_t width_of(inlay::shape const& shape) {
  std::size_t width = 0;
  for (auto const table : shape.field_tables) {
    width += shape.tables[inlay::index(table)].dim;
  }
  return width;
}

inline std::vector<inlay::batch> some_batches(std::size_t count, std::size_t rows,
                                              std::uint64_t seed, std::size_t fields = 6) {
  std::vector<inlay::batch> result;
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back(
        inlay::testing::random_batch({.rows = rows,
                                      .fields = fields,
                                      .dense_width = dense_width,
                                      .most_ids = 3,
                                      .distinct = 400,
                                      .weights = i % 2 == 0 ? inlay::testing::bag_weights::random
                                                            : inlay::testing::bag_weights::none},
                                     inlay::mix(seed, i)));
  }
  return result;
}

/// The most distinct rows of one width that any `window` batches in a row need, taken round and
/// round: the smallest cache that can hold them.
inline std::size_t smallest_cache(inlay::shape const& shape,
                                  std::vector<inlay::batch> const& batches,
                                  std::size_t window = 1) {
  std::size_t most = 0;
  for (std::size_t first = 0; first < batches.size(); ++first) {
    std::map<std::size_t, std::set<row_name>> distinct;  // by width
    for (std::size_t at = first; at < first + window; ++at) {
      auto const view = batches[at % batches.size()].view();
      for (std::size_t field = 0; field < view.fields; ++field) {
        auto const table = inlay::index(shape.field_tables[field]);
        for (auto i = view.offsets[view.bag(field, 0)];
             i < view.offsets[view.bag(field, view.rows)]; ++i) {
          distinct[shape.tables[table].dim].insert({table, view.ids[i]});
        }
      }
    }
    for (auto const& [width, rows] : distinct) {
      most = std::max(most, rows.size());
    }
  }
  return most;
}

/// Batches of one size round and round, as a stream of samples.
class round_trip {
 public:
  round_trip(std::vector<inlay::batch> const& batches, std::size_t count)
      : batches_(batches), count_(count) {}

  [[nodiscard]] std::uint64_t size() const { return count_ * rows(); }
  [[nodiscard]] inlay::batch_view read(inlay::sample_range range) {
    return batches_[range.first / rows() % batches_.size()].view();
  }
  [[nodiscard]] std::size_t rows() const { return batches_.front().view().rows; }

 private:
  std::vector<inlay::batch> const& batches_;
  std::size_t count_;
};

template <class Engine>
row_map rows_of(Engine const& trainer) {
  row_map result;
  trainer.for_each_row([&](inlay::table_id table, inlay::raw_id id, inlay::span<float const> row) {
    result[{inlay::index(table), id}].assign(row.begin(), row.end());
  });
  return result;
}

/// Parameters after training.
struct outcome {
  row_map rows;
  std::vector<float> dense;
  inlay::report figures;

  /// Bit for bit: -0 differs from 0.
  [[nodiscard]] bool operator==(outcome const& other) const {
    auto const same = [](std::vector<float> const& a, std::vector<float> const& b) {
      return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](float left, float right) {
        return left == right && std::signbit(left) == std::signbit(right);
      });
    };
    return same(dense, other.dense) &&
           std::equal(rows.begin(), rows.end(), other.rows.begin(), other.rows.end(),
                      [&](auto const& a, auto const& b) {
                        return a.first == b.first && same(a.second, b.second);
                      });
  }
};

/// Euclidean distance of all parameters, over their norm; infinite if the rows are others.
inline double distance(outcome const& left, outcome const& right) {
  double difference = 0.0;
  double norm = 0.0;
  auto const compare = [&](std::vector<float> const& a, std::vector<float> const& b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      difference += (double{a[i]} - b[i]) * (double{a[i]} - b[i]);
      norm += double{a[i]} * a[i];
    }
  };
  if (left.rows.size() != right.rows.size()) return INFINITY;
  compare(left.dense, right.dense);
  for (auto const& [name, row] : left.rows) {
    auto const other = right.rows.find(name);
    if (other == right.rows.end()) return INFINITY;
    compare(row, other->second);
  }
  return std::sqrt(difference / norm);
}

enum class chunk_order { one_by_one, side_by_side };

/// Trains `steps` batches, round and round.
template <class Parts>
outcome train(inlay::shape const& shape, Parts const& parts,
              std::vector<inlay::batch> const& batches, std::size_t steps,
              chunk_order order = chunk_order::one_by_one) {
  inlay::engine<Parts> trainer{shape, parts};
  network net(width_of(shape), dense_width);
  net.attach_to(trainer);
  for (std::size_t i = 0; i < steps; ++i) {
    auto step = trainer.begin(batches[i % batches.size()].view());
    if (order == chunk_order::one_by_one) {
      net.train_all(step);
    } else {
      net.train_side_by_side(step, trainer.exec().threads());
    }
    trainer.finish(std::move(step));
  }
  trainer.flush();
  return {rows_of(trainer), net.all(), trainer.figures()};
}

/// The same through a stream, with as many steps prefetched as the shape says.
template <class Parts>
outcome train_stream(inlay::shape shape, Parts const& parts,
                     std::vector<inlay::batch> const& batches, std::size_t steps) {
  round_trip samples(batches, steps);
  shape.batch = samples.rows();
  inlay::engine<Parts> trainer{shape, parts};
  network net(width_of(shape), dense_width);
  net.attach_to(trainer);
  while (auto step = trainer.next(samples)) {
    net.train_all(*step);
    trainer.finish(std::move(*step));
  }
  trainer.flush();
  return {rows_of(trainer), net.all(), trainer.figures()};
}

}  // namespace toy
