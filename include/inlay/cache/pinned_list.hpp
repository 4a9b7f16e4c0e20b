#pragma once

#include <inlay/cache/slot_list.hpp>

#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// One of the lists of a policy that has several: it remembers in which step all its slots were
/// found pinned, so that a plan finds that out once, not for every miss.
///
/// Slots that come later in the same step may be loose; so who has found no victim anywhere must
/// `look_again` before it says so.
struct pinned_list : slot_list {
  /// No step.
  static constexpr step_id none{INT64_MIN};

  step_id all_pinned_in = none;  ///< a step, as far as is known

  /// The oldest slot that is not pinned, as in `slot_list`; `no_way` if all are, or were.
  template <class Slot, class Pinned>
  INLAY_HD constexpr way_id oldest_loose(span<Slot> slots, Pinned const& pinned,
                                         step_id step) noexcept {
    if (all_pinned_in == step) return no_way;
    auto const way = slot_list::oldest_loose(slots, pinned);
    if (way == no_way && size > 0) all_pinned_in = step;
    return way;
  }

  /// All slots of another list come in at the young end, in their order.
  template <class Slot>
  INLAY_HD constexpr void take_all(span<Slot> slots, pinned_list& other) noexcept {
    slot_list::take_all(slots, other);
    look_again();
  }

  /// Forgets what it remembers.
  INLAY_HD constexpr void look_again() noexcept { all_pinned_in = none; }
};

}  // namespace inlay::inline INLAY_ABI
