#pragma once

#include <inlay/cache/cache_policy.hpp>

#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// What is left of a row that has gone: a cell that a policy keeps beside every slot, as `ghost`.
struct ghost_cell {
  std::uint32_t tag = 0;           ///< upper half of the hash of its key
  std::uint32_t gone_at : 31 = 0;  ///< by the count of rows that had gone; 0: the cell is empty
  std::uint32_t list : 1 = 0;      ///< which of a policy's two lists it was in
};

/// The rows that have gone lately, one cell per slot. The papers keep them in lists, which would be
/// memory that grows beside the slots; here a row's hash says in which four cells it may be, and
/// the one that has been there longest gives way. All four are seen in any case, for where a row
/// is can't be foretold.
struct ghosts {
  std::uint32_t gone = 0;  ///< rows that have gone so far

  /// Cells that one row may be in.
  static constexpr std::size_t group = 4;

  /// What a row is known by.
  [[nodiscard]] INLAY_HD static constexpr std::uint32_t tag_of(std::uint64_t hash) noexcept {
    return static_cast<std::uint32_t>(hash >> 32U);
  }

  /// Where the ghost of a row is; `no_way` if it is not known. // slots with a `ghost_cell ghost`
  template <class Slot>
  [[nodiscard]] INLAY_HD static constexpr way_id find(span<Slot> slots,
                                                      std::uint32_t tag) noexcept {
    auto const first = first_cell(slots, tag);
    auto found = no_way;
    for (auto at = first; at < first + cells(slots); ++at) {
      auto const& cell = slots[at].ghost;
      auto const is_it = (cell.tag == tag) & (cell.gone_at != 0);
      found = is_it ? static_cast<way_id>(at) : found;
    }
    return found;
  }

  /// How many rows have gone since this one.
  [[nodiscard]] INLAY_HD constexpr std::uint32_t age(ghost_cell const& cell) const noexcept {
    return (gone - cell.gone_at) & last;
  }

  /// Notes that a row has gone: in an empty cell, or in place of a ghost, of one list rather than
  /// of the other, of the oldest rather than of later ones. Returns what was in the cell.
  template <class Slot>
  INLAY_HD constexpr ghost_cell remember(span<Slot> slots, std::uint32_t tag, std::uint32_t list,
                                         std::uint32_t given_up) noexcept {
    gone = gone == last ? 1 : gone + 1;
    auto const first = first_cell(slots, tag);
    auto into = first;
    std::uint64_t most = 0;
    for (auto at = first; at < first + cells(slots); ++at) {
      auto const& cell = slots[at].ghost;
      auto const rank = std::uint64_t{cell.gone_at == 0} << 33U |
                        std::uint64_t{cell.list == given_up} << 32U | age(cell);
      into = rank > most ? at : into;
      most = rank > most ? rank : most;
    }
    auto const before = slots[into].ghost;
    slots[into].ghost.tag = tag;
    slots[into].ghost.gone_at = gone & last;
    slots[into].ghost.list = list & 1U;
    return before;
  }

 private:
  static constexpr std::uint32_t last = (std::uint32_t{1} << 31U) - 1;

  template <class Slot>
  [[nodiscard]] INLAY_HD static constexpr std::size_t first_cell(span<Slot> slots,
                                                                 std::uint32_t tag) noexcept {
    return (tag * std::uint64_t{slots.size() / group} >> 32U) * group;
  }
  template <class Slot>
  [[nodiscard]] INLAY_HD static constexpr std::size_t cells(span<Slot> slots) noexcept {
    return slots.size() < group ? slots.size() : group;
  }
};

}  // namespace inlay::inline INLAY_ABI
