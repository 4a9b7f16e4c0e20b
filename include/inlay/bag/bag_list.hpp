#pragma once

#include <inlay/bag/pooling.hpp>
#include <inlay/batch/batch_view.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/one_of.hpp>
#include <inlay/core/prefetch.hpp>
#include <inlay/core/row_math.hpp>
#include <inlay/vsid/keys.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// A field as a group of bags sees it.
template <class Pooling>
struct bag_field {
  std::size_t field = 0;   ///< of the batch
  table_id table{};        ///< that it reads
  std::size_t column = 0;  ///< where its pooled row begins within a sample's
  Pooling pooling{};       ///< of its table
};

/// The bags of some fields of a batch, row by row, as their pooled rows lie. An occurrence is one
/// id in one bag; occurrences are numbered in that order, which is the one in which gradients are
/// summed.
///
/// A batch itself is field by field. Turning it once, in blocks of a few rows, is what lets all
/// that follows go forward in memory: the pooled matrix is written from front to back,
/// and its gradient is read nearly so, for most rows of a table occur once in a batch.
struct bag_list {
  std::size_t fields = 0;            ///< that were listed: bags of a row
  buffer<std::uint32_t> offsets;     // (rows * fields + 1), into occurrences
  buffer<std::uint32_t> bag_places;  // (rows * fields), where the bag lies in the pooled matrix
  buffer<std::uint32_t> places;      // (n), the same for every occurrence
  buffer<float> factors;             // (n) weight times pooling factor, or empty: all one
  buffer<std::uint32_t> chunk_ends;  // (chunks), the first occurrence behind each chunk of rows
  std::uint32_t first_chunk = 0;     ///< the number of the first chunk among those of all ranks
  float greatest_factor = 1.0F;      ///< by magnitude; not finite if one is not

  /// Bags in the list.
  [[nodiscard]] std::size_t size() const noexcept { return bag_places.size(); }
};

namespace detail {

template <key_packing Keys>
[[noreturn]] void refuse_id(batch_view const& batch, std::size_t field, table_id table,
                            std::size_t occurrence) {
  fail("id " + std::to_string(batch.ids[occurrence]) + " of field " + std::to_string(field) +
       " does not fit into a " + Keys::name + " key of table " + std::to_string(index(table)) +
       ": take keys that hold it, such as wide");
}

/// Some rows of a batch on their way into a list.
struct bag_block {
  std::size_t first_row;
  std::size_t last_row;
  std::uint32_t first_occurrence;
};

/// Blocks of so many rows, each with the number of its first occurrence.
template <class Pooling>
buffer<bag_block> cut_into_blocks(batch_view const& batch, span<bag_field<Pooling> const> fields,
                                  std::size_t rows_a_block) {
  buffer<bag_block> blocks;
  std::uint32_t occurrence = 0;
  for (std::size_t row = 0; row < batch.rows; row += rows_a_block) {
    auto const end = std::min(row + rows_a_block, batch.rows);
    blocks.push_back({row, end, occurrence});
    for (auto const& field : fields) {
      auto const first = batch.bag(field.field, row);
      occurrence += batch.offsets[first + (end - row)] - batch.offsets[first];
    }
  }
  blocks.push_back({batch.rows, batch.rows, occurrence});
  return blocks;
}

/// Numbers the occurrences of a block.
template <class Pooling>
void fill_offsets(batch_view const& batch, span<bag_field<Pooling> const> fields,
                  bag_block const& block, bag_list& bags) {
  auto const rows = block.last_row - block.first_row;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    auto const* const offsets = batch.offsets.data() + batch.bag(fields[f].field, block.first_row);
    // Of the next block: each field goes on elsewhere, too briefly for the machine to see it.
    prefetch_lines(offsets + rows, rows * sizeof *offsets);
    prefetch_lines(batch.ids.data() + offsets[rows], rows * sizeof(raw_id));
    for (auto row = block.first_row; row < block.last_row; ++row) {
      auto const at = row - block.first_row;
      bags.offsets[row * fields.size() + f] = offsets[at + 1] - offsets[at];
    }
  }
  auto occurrence = block.first_occurrence;
  for (auto bag = block.first_row * fields.size(); bag < block.last_row * fields.size(); ++bag) {
    occurrence += std::exchange(bags.offsets[bag], occurrence);
  }
}

/// Lists the ids of one field in a block.
template <key_packing Keys, class Pooling>
void fill_field(batch_view const& batch, span<bag_field<Pooling> const> fields, std::size_t f,
                bag_block const& block, std::size_t stride, bag_list& bags,
                typename Keys::key* keys) {
  auto const& field = fields[f];
  for (auto row = block.first_row; row < block.last_row; ++row) {
    auto const from = batch.bag(field.field, row);
    auto const bag = row * fields.size() + f;
    auto const place = static_cast<std::uint32_t>(row * stride + field.column);
    auto occurrence = bags.offsets[bag];
    bags.bag_places[bag] = place;
    for (auto i = batch.offsets[from]; i < batch.offsets[from + 1]; ++i, ++occurrence) {
      if (!Keys::holds(field.table, batch.ids[i])) [[unlikely]] {
        refuse_id<Keys>(batch, field.field, field.table, i);
      }
      keys[occurrence] = Keys::pack(field.table, batch.ids[i]);
      bags.places[occurrence] = place;
    }
  }
}

/// The factors of one field in a block.
template <class Pooling>
void fill_factors(batch_view const& batch, span<bag_field<Pooling> const> fields, std::size_t f,
                  bag_block const& block, bag_list& bags) {
  inlay::visit(fields[f].pooling, [&](auto const& pooling) {
    for (auto row = block.first_row; row < block.last_row; ++row) {
      auto const from = batch.bag(fields[f].field, row);
      auto const first = batch.offsets[from];
      auto const last = batch.offsets[from + 1];
      auto weight_sum = batch.weights.empty() ? static_cast<float>(last - first) : 0.0F;
      for (auto i = first; i < last && !batch.weights.empty(); ++i) {
        weight_sum += batch.weights[i];
      }
      auto const factor = pooling.factor(last - first, weight_sum);
      auto* const into = bags.factors.data() + bags.offsets[row * fields.size() + f];
      for (auto i = first; i < last; ++i) {
        into[i - first] = batch.weights.empty() ? factor : factor * batch.weights[i];
      }
    }
  });
}

}  // namespace detail

/// Lists the bags of `fields` and the keys of their occurrences. `stride` is the width of a pooled
/// row; gradients are summed by chunks of `rows_a_chunk` rows.
template <key_packing Keys, class Pooling>
void collect_bags(host_exec const& exec, batch_view const& batch,
                  span<bag_field<Pooling> const> fields, std::size_t rows_a_chunk,
                  std::size_t stride, bag_list& bags, buffer<typename Keys::key>& keys) {
  constexpr std::size_t rows_a_block = 32;  // whose part of the list stays in the nearest cache
  expects(batch.rows * stride <= std::numeric_limits<std::uint32_t>::max(),
          "a batch's pooled rows hold at most 2^32 floats");
  auto const blocks = detail::cut_into_blocks(batch, fields, rows_a_block);
  auto const occurrences = blocks[blocks.size() - 1].first_occurrence;
  bags.fields = fields.size();
  bags.offsets.resize(batch.rows * fields.size() + 1);
  bags.offsets[batch.rows * fields.size()] = occurrences;
  bags.bag_places.resize(batch.rows * fields.size());
  bags.places.resize(occurrences);
  keys.resize(occurrences);
  auto const plain = std::is_same_v<Pooling, sum> && batch.weights.empty();
  bags.factors.resize(plain ? 0 : occurrences);
  exec.for_pieces(blocks.size() - 1, 8, [&](std::size_t first, std::size_t last) {
    for (auto b = first; b < last; ++b) {
      detail::fill_offsets(batch, fields, blocks[b], bags);
      for (std::size_t f = 0; f < fields.size(); ++f) {
        detail::fill_field<Keys>(batch, fields, f, blocks[b], stride, bags, keys.data());
        if (!plain) detail::fill_factors(batch, fields, f, blocks[b], bags);
      }
    }
  });
  bags.chunk_ends.clear();
  for (std::size_t row = 0; row < batch.rows; row += rows_a_chunk) {
    auto const end = std::min(row + rows_a_chunk, batch.rows);
    bags.chunk_ends.push_back(bags.offsets[end * fields.size()]);
  }
  bags.greatest_factor =
      plain ? 1.0F : greatest_magnitude(bags.factors.data(), bags.factors.size());
}

}  // namespace inlay::inline INLAY_ABI
