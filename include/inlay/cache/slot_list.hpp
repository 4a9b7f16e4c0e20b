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
};

}  // namespace inlay::inline INLAY_ABI
