#pragma once

#include <inlay/cache/cache_policy.hpp>
#include <inlay/core/prefetch.hpp>

namespace inlay::inline INLAY_ABI {

/// A slot's neighbours in a list.
struct link {
  way_id younger = no_way;  ///< its neighbour towards the young end
  way_id older = no_way;    ///< and towards the old one
};

/// A list through slots that have a `link at`: every operation O(1), no memory of its own.
struct slot_list {
  way_id youngest = no_way;  ///< the last that came
  way_id oldest = no_way;    ///< the first that came
  std::uint32_t size = 0;    ///< slots in the list

  /// A slot that is in no list comes in at the young end.
  template <class Slot>
  INLAY_HD constexpr void push_young(span<Slot> slots, way_id way) noexcept {
    slots[way].at = {no_way, youngest};
    (youngest == no_way ? oldest : slots[youngest].at.younger) = way;
    youngest = way;
    ++size;
  }

  /// A slot of the list leaves it.
  template <class Slot>
  INLAY_HD constexpr void remove(span<Slot> slots, way_id way) noexcept {
    auto const [younger, older] = slots[way].at;
    (younger == no_way ? youngest : slots[younger].at.older) = older;
    (older == no_way ? oldest : slots[older].at.younger) = younger;
    --size;
  }

  /// Asks for the neighbours of a slot of the list, which its leaving will write to.
  template <class Slot>
  INLAY_HD static void prefetch_neighbours(span<Slot> slots, way_id way) noexcept {
    auto const [younger, older] = slots[way].at;
    if (younger != no_way) prefetch_line(slots.data() + younger);
    if (older != no_way) prefetch_line(slots.data() + older);
  }

  /// A slot of the list goes to the young end.
  template <class Slot>
  INLAY_HD constexpr void make_young(span<Slot> slots, way_id way) noexcept {
    if (way != youngest) {
      remove(slots, way);
      push_young(slots, way);
    }
  }

  /// The oldest slot that is not pinned; `no_way` if all are. Pinned ones that are met go to the
  /// young end: they are in use, and else every miss of a plan would walk over them again.
  template <class Slot, class Pinned>
  INLAY_HD constexpr way_id oldest_loose(span<Slot> slots, Pinned const& pinned) noexcept {
    for (auto left = size; left > 0; --left) {
      if (!pinned(oldest)) return oldest;
      make_young(slots, oldest);
    }
    return no_way;
  }

  /// All slots of another list come in at the young end, in their order.
  template <class Slot>
  INLAY_HD constexpr void take_all(span<Slot> slots, slot_list& other) noexcept {
    if (other.size == 0) return;
    slots[other.oldest].at.older = youngest;
    (youngest == no_way ? oldest : slots[youngest].at.younger) = other.oldest;
    youngest = other.youngest;
    size += other.size;
    other = {};
  }
};

}  // namespace inlay::inline INLAY_ABI
