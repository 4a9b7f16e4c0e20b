#pragma once

#include <inlay/cache/slot_pins.hpp>
#include <inlay/core/views.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// Rows that steps in flight use in the table, though a cache lies before it. While any step does,
/// later ones must do so too: with a copy in a slot beside it, one of two updates would be lost.
template <class Key>
class spilled_rows {
 public:
  /// True if no step uses a row so.
  [[nodiscard]] bool empty() const noexcept { return rows_.empty(); }
  /// Memory held.
  [[nodiscard]] std::size_t bytes() const noexcept { return rows_.capacity() * sizeof(row); }

  /// Whether any step uses a row in the table.
  [[nodiscard]] bool contains(Key key) const noexcept {
    auto const at = std::lower_bound(rows_.begin(), rows_.end(), row{key, 0}, before);
    return at != rows_.end() && at->key == key;
  }

  /// Makes sure that to `note` so many rows more needs no memory.
  void reserve(std::size_t more) { rows_.reserve(rows_.size() + more); }

  /// A step, by its pins, uses rows in the table.
  void note(slot_pins::set_id step, span<Key const> keys) noexcept {
    if (keys.empty()) return;
    for (auto const key : keys) {
      rows_.push_back({key, step});
    }
    std::sort(rows_.begin(), rows_.end(), before);
  }

  /// The step is done with them.
  void forget(slot_pins::set_id step) noexcept {
    std::erase_if(rows_, [&](row const& one) { return one.step == step; });
  }

 private:
  struct row {
    Key key;
    slot_pins::set_id step;
  };

  [[nodiscard]] static bool before(row const& left, row const& right) noexcept {
    return left.key < right.key;
  }

  std::vector<row> rows_;  // by key; few, for a cache that spills many rows is too small
};

}  // namespace inlay::inline INLAY_ABI
