#pragma once

#include <inlay/core/error.hpp>
#include <inlay/table/new_row.hpp>
#include <inlay/table/row_slabs.hpp>
#include <inlay/table/row_store.hpp>
#include <inlay/table/uniform.hpp>
#include <inlay/vsid/key_index.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// Rows in host memory, made at first touch: an index over slabs.
///
/// ```cpp
/// auto rows = host_rows{new_row<narrow, uniform>{{}, seed, 16, {0.01F}, {0.0F}}};
/// rows.find_or_create(exec, keys, addresses);  // a batch at a time: cache misses overlap
/// ```
template <key_packing Keys, initialiser Init>
class host_rows {
 public:
  using key = typename Keys::key;

  /// An empty table whose rows begin as `maker` says, in slabs of so many bytes.
  explicit host_rows(new_row<Keys, Init> maker, std::size_t slab_bytes = usual_slab_bytes)
      : maker_(std::move(maker)), slabs_(maker_.layout().floats(), slab_bytes) {}

  /// What a row holds.
  [[nodiscard]] row_layout layout() const noexcept { return maker_.layout(); }
  /// How many rows there are.
  [[nodiscard]] std::size_t size() const noexcept { return index_.size(); }
  /// What makes new rows.
  [[nodiscard]] new_row<Keys, Init> const& maker() const noexcept { return maker_; }

  /// Memory held, index and unused places included.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return slabs_.bytes() + index_.bytes() + free_.capacity() * sizeof(free_[0]);
  }

  /// Addresses of the rows of distinct `keys`, unknown ones created; returns how many those were.
  /// If memory runs out, or a key's table is unknown, the table is as before.
  std::size_t find_or_create(host_exec const& exec, span<key const> keys, span<float*> rows) {
    expects(rows.size() == keys.size(), "there must be one place for the row of each key");
    find(exec, keys, rows);
    created_.clear();
    created_keys_.clear();
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (rows[i] != nullptr) continue;
      maker_.require(keys[i]);
      created_.push_back(static_cast<std::uint32_t>(i));
      created_keys_.push_back(keys[i]);
    }
    index_.reserve(index_.size() + created_.size());
    auto const before = slabs_.size();
    try {
      for (auto left = created_.size(); left > free_.size(); --left) {
        slabs_.add();
      }
    } catch (...) {
      slabs_.shrink(before);
      throw;
    }
    number_created(rows, before);
    exec.for_pieces(created_.size(), 64, [&](std::size_t first, std::size_t last) {
      for (auto n = first; n < last; ++n) {
        maker_.whole(keys[created_[n]], rows[created_[n]]);
      }
    });
    return created_.size();
  }

  /// Addresses of the rows of `keys`, nullptr where there is none. Changes nothing.
  void find(span<key const> keys, span<float const*> rows) const {
    expects(rows.size() == keys.size(), "there must be one place for the row of each key");
    look_up(slabs_, keys, rows);
  }

  /// Forgets a row; false when there was none. Its place goes to the next new row.
  bool erase(key row) {
    auto const number = index_.find(row);
    if (number == key_index<key>::absent) {
      return false;
    }
    free_.push_back(number);
    return index_.erase(row);
  }

  /// Calls visit(key, row) for every row, in an order without meaning. // row (dim + state)
  template <class Visit>
  void for_each(Visit&& visit) const {
    index_.for_each([&](key row, std::uint32_t number) {
      visit(row, span<float const>(slabs_.row(number), layout().floats()));
    });
  }

 private:
  template <class Slabs, class Row>
  void look_up(Slabs& slabs, span<key const> keys, span<Row*> rows) const {
    index_.find_each(keys, [&](std::size_t i, std::uint32_t number) {
      rows[i] = number == key_index<key>::absent ? nullptr : slabs.row(number);
    });
  }

  /// Side by side.
  void find(host_exec const& exec, span<key const> keys, span<float*> rows) {
    constexpr std::size_t keys_a_piece = 16384;
    exec.for_pieces(keys.size(), keys_a_piece, [&](std::size_t first, std::size_t last) {
      look_up(slabs_, keys.subspan(first, last - first), rows.subspan(first, last - first));
    });
  }

  /// Puts the new keys into the index: at the places of erased rows first, then at the rows from
  /// `next` on. Nothing here needs memory.
  void number_created(span<float*> rows, std::size_t next) {
    index_.find_or_insert_each(
        std::as_const(created_keys_).view(),
        [&] {
          if (free_.empty()) return static_cast<std::uint32_t>(next++);
          auto const number = free_.back();
          free_.pop_back();
          return number;
        },
        [&](std::size_t n, std::uint32_t number, bool) { rows[created_[n]] = slabs_.row(number); });
  }

  new_row<Keys, Init> maker_;
  row_slabs slabs_;
  key_index<key> index_;
  std::vector<std::uint32_t> free_;  // numbers of erased rows
  buffer<std::uint32_t> created_;    // places, within the call's keys, of rows made by it
  buffer<key> created_keys_;         // and their keys
};

static_assert(row_store<host_rows<narrow, uniform>>);

}  // namespace inlay::inline INLAY_ABI
