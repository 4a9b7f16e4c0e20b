#pragma once

#include <inlay/bag/pooling.hpp>
#include <inlay/batch/batch_view.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/one_of.hpp>
#include <inlay/core/row_math.hpp>
#include <inlay/vsid/keys.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace inlay::inline INLAY_ABI {

/// A field as a group of bags sees it.
template <class Pooling>
struct bag_field {
  std::size_t field = 0;   ///< of the batch
  table_id table{};        ///< that it reads
  std::size_t column = 0;  ///< where its pooled row begins within a sample's
  Pooling pooling{};       ///< of its table
};

/// The bags of some fields of a batch in the order in which gradients are summed: chunk by chunk of
/// rows, field-major within a chunk. An occurrence is one id in one bag; occurrences are numbered
/// in that order.
struct bag_list {
  buffer<std::uint32_t> offsets;     // (bags + 1), into occurrences
  buffer<std::uint32_t> bag_places;  // (bags), where the bag lies in the pooled matrix, in floats
  buffer<std::uint32_t> places;      // (n), the same for every occurrence
  buffer<float> factors;             // (n) weight times pooling factor, or empty: all one
  buffer<std::uint32_t> chunk_ends;  // (chunks), the first occurrence behind each chunk
  float greatest_factor = 1.0F;      ///< by magnitude; not finite if one is not

  /// Bags in the list.
  [[nodiscard]] std::size_t size() const noexcept { return bag_places.size(); }
};

namespace detail {

/// One field within one chunk: bags that lie together in the batch and in the list.
struct bag_run {
  std::size_t field;  // of the group
  std::size_t first_row;
  std::size_t last_row;
  std::size_t first_bag;           // in the list
  std::uint32_t first_occurrence;  // in the list
};

template <class Pooling>
buffer<bag_run> lay_out(batch_view const& batch, span<bag_field<Pooling> const> fields,
                        std::size_t rows_a_chunk, bag_list& bags) {
  buffer<bag_run> runs;
  std::size_t bag = 0;
  std::uint32_t occurrence = 0;
  bags.chunk_ends.clear();
  for (std::size_t row = 0; row < batch.rows; row += rows_a_chunk) {
    auto const end = std::min(row + rows_a_chunk, batch.rows);
    for (std::size_t f = 0; f < fields.size(); ++f) {
      runs.push_back({f, row, end, bag, occurrence});
      bag += end - row;
      auto const first = batch.bag(fields[f].field, row);
      occurrence += batch.offsets[first + (end - row)] - batch.offsets[first];
    }
    bags.chunk_ends.push_back(occurrence);
  }
  bags.offsets.resize(bag + 1);
  bags.offsets[bag] = occurrence;
  bags.bag_places.resize(bag);
  bags.places.resize(occurrence);
  return runs;
}

template <key_packing Keys>
[[noreturn]] void refuse_id(batch_view const& batch, std::size_t field, table_id table,
                            std::size_t occurrence) {
  fail("id " + std::to_string(batch.ids[occurrence]) + " of field " + std::to_string(field) +
       " does not fit into a " + Keys::name + " key of table " + std::to_string(index(table)) +
       ": take keys that hold it, such as wide");
}

template <key_packing Keys, class Pooling>
void fill_run(batch_view const& batch, bag_field<Pooling> const& field, bag_run const& run,
              std::size_t stride, bag_list& bags, typename Keys::key* keys) {
  auto occurrence = run.first_occurrence;
  inlay::visit(field.pooling, [&](auto const& pooling) {
    for (auto row = run.first_row; row < run.last_row; ++row) {
      auto const from = batch.bag(field.field, row);
      auto const first = batch.offsets[from];
      auto const last = batch.offsets[from + 1];
      auto const bag = run.first_bag + (row - run.first_row);
      auto const place = static_cast<std::uint32_t>(row * stride + field.column);
      bags.offsets[bag] = occurrence;
      bags.bag_places[bag] = place;
      if (!bags.factors.empty()) {
        auto weight_sum = batch.weights.empty() ? static_cast<float>(last - first) : 0.0F;
        for (auto i = first; i < last && !batch.weights.empty(); ++i) {
          weight_sum += batch.weights[i];
        }
        auto const factor = pooling.factor(last - first, weight_sum);
        for (auto i = first; i < last; ++i) {
          bags.factors[occurrence + (i - first)] =
              batch.weights.empty() ? factor : factor * batch.weights[i];
        }
      }
      for (auto i = first; i < last; ++i, ++occurrence) {
        if (!Keys::holds(field.table, batch.ids[i])) [[unlikely]] {
          refuse_id<Keys>(batch, field.field, field.table, i);
        }
        keys[occurrence] = Keys::pack(field.table, batch.ids[i]);
        bags.places[occurrence] = place;
      }
    }
  });
}

}  // namespace detail

/// Lists the bags of `fields` and the keys of their occurrences. `stride` is the width of a pooled
/// row.
template <key_packing Keys, class Pooling>
void collect_bags(host_exec const& exec, batch_view const& batch,
                  span<bag_field<Pooling> const> fields, std::size_t rows_a_chunk,
                  std::size_t stride, bag_list& bags, buffer<typename Keys::key>& keys) {
  expects(batch.rows * stride <= std::numeric_limits<std::uint32_t>::max(),
          "a batch's pooled rows hold at most 2^32 floats");
  auto const runs = detail::lay_out(batch, fields, rows_a_chunk, bags);
  keys.resize(bags.places.size());
  auto const plain = std::is_same_v<Pooling, sum> && batch.weights.empty();
  bags.factors.resize(plain ? 0 : bags.places.size());
  exec.for_each(runs.size(), [&](std::size_t i) {
    detail::fill_run<Keys>(batch, fields[runs[i].field], runs[i], stride, bags, keys.data());
  });
  bags.greatest_factor =
      plain ? 1.0F : greatest_magnitude(bags.factors.data(), bags.factors.size());
}

}  // namespace inlay::inline INLAY_ABI
