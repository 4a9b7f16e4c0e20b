#pragma once

#include <inlay/core/huge_pages.hpp>
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
    created_.resize(keys.size());  // an upper bound, so that noting a new row can't fail
    std::size_t made = 0;
    auto const rows_before = slabs_.size();
    auto const free_before = free_.size();
    auto const take_number = [&] {
      return made < free_before ? free_[free_before - 1 - made] : slabs_.add();
    };
    try {
      index_.find_or_insert_each(keys, take_number,
                                 [&](std::size_t i, std::uint32_t number, bool is_new) {
                                   rows[i] = slabs_.row(number);
                                   if (is_new) {
                                     created_[made++] = static_cast<std::uint32_t>(i);
                                     maker_.require(keys[i]);
                                   }
                                 });
    } catch (...) {
      for (std::size_t n = 0; n < made; ++n) {
        index_.erase(keys[created_[n]]);
      }
      slabs_.shrink(rows_before);
      throw;
    }
    free_.resize(free_before - std::min(made, free_before));
    exec.for_pieces(made, 64, [&](std::size_t first, std::size_t last) {
      for (auto n = first; n < last; ++n) {
        maker_.whole(keys[created_[n]], rows[created_[n]]);
      }
    });
    return made;
  }

  /// Addresses of the rows of `keys`, nullptr where there is none. Changes nothing.
  void find(span<key const> keys, span<float const*> rows) const {
    index_.find_each(keys, [&](std::size_t i, std::uint32_t number) {
      rows[i] = number == key_index<key>::absent ? nullptr : slabs_.row(number);
    });
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
  new_row<Keys, Init> maker_;
  row_slabs slabs_;
  key_index<key> index_;
  std::vector<std::uint32_t> free_;  // numbers of erased rows
  buffer<std::uint32_t> created_;    // places, within the call's keys, of rows made by it
};

static_assert(row_store<host_rows<narrow, uniform>>);

}  // namespace inlay::inline INLAY_ABI
