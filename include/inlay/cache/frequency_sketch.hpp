#pragma once

#include <inlay/core/views.hpp>

#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// How often rows are used, about: a count-min sketch of four-bit counters (Cormode and
/// Muthukrishnan, 2005), sixteen in a cell beside every slot, as `counters`. A row has four of them
/// and is said to be used as often as the lowest says, which errs to the high side.
///
/// Counts are of the recent past: a hand goes round the cells and halves what it meets, once for
/// all cells in `age_after` uses a slot. (TinyLFU halves all at once, which is a pause.)
struct frequency_sketch {
  std::uint64_t uses = 0;  ///< counted so far
  std::size_t hand = 0;    ///< the cell to be halved next

  /// The highest count.
  static constexpr std::uint32_t most = 15;

  /// Counts uses of a row. // slots with a `std::uint64_t counters`
  template <class Slot>
  INLAY_HD constexpr void add(span<Slot> slots, std::uint32_t tag, std::uint32_t count,
                              std::uint32_t age_after) noexcept {
    for (std::uint32_t row = 0; row < rows; ++row) {
      auto const at = place(slots, tag, row);
      auto& cell = slots[at.cell].counters;
      auto const before = cell >> at.shift & most;
      auto const left = most - before;
      cell += (count < left ? count : left) << at.shift;
    }
    if (age_after == 0 || ++uses % age_after != 0) return;
    auto& old = slots[hand].counters;
    old = old >> 1U & 0x7777'7777'7777'7777U;
    hand = hand + 1 == slots.size() ? 0 : hand + 1;
  }

  /// How often a row was used, about; at most `most`.
  template <class Slot>
  [[nodiscard]] INLAY_HD static constexpr std::uint32_t estimate(span<Slot> slots,
                                                                 std::uint32_t tag) noexcept {
    std::uint32_t lowest = most;
    for (std::uint32_t row = 0; row < rows; ++row) {
      auto const at = place(slots, tag, row);
      auto const count = static_cast<std::uint32_t>(slots[at.cell].counters >> at.shift & most);
      lowest = count < lowest ? count : lowest;
    }
    return lowest;
  }

 private:
  static constexpr std::uint32_t rows = 4;

  struct counter {
    std::size_t cell;
    std::uint32_t shift;
  };

  template <class Slot>
  [[nodiscard]] INLAY_HD static constexpr counter place(span<Slot> slots, std::uint32_t tag,
                                                        std::uint32_t row) noexcept {
    // Odd constants from the digits of pi: one hash for each row.
    constexpr std::uint64_t factors[rows] = {0x243f6a8885a308d3U, 0x13198a2e03707345U,
                                             0xa4093822299f31d1U, 0x082efa98ec4e6c89U};
    auto const mixed = (tag + std::uint64_t{1}) * factors[row];
    auto const high = mixed >> 32U;
    return {static_cast<std::size_t>(high * slots.size() >> 32U),
            static_cast<std::uint32_t>(mixed >> 20U & 15U) * 4};
  }
};

}  // namespace inlay::inline INLAY_ABI
