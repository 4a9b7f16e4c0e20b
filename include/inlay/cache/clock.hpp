#pragma once

#include <inlay/cache/cache_policy.hpp>
#include <inlay/cache/slot_list.hpp>

#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// CLOCK, or second chance (Corbató, 1968): a queue by age and a bit per slot, set by a hit. The
/// oldest slot leaves if its bit is clear; else the bit is cleared and the slot is young again.
///
/// Wins where LRU does, at the cost of FIFO: a hit writes one bit. Loses where LRU does, to ids
/// that never return. The ring of the textbook is a queue here, so that slots that are taken out in
/// the middle leave no hole.
struct clock {
  static constexpr char const* name = "clock";

  struct slot_state {
    link at;               ///< in the queue
    bool visited = false;  ///< since it was young
  };
  struct set_state {
    slot_list queue;  ///< by arrival or second chance
  };

  INLAY_HD constexpr void reset(span<slot_state>, set_state& set) const noexcept { set = {}; }

  INLAY_HD constexpr void on_insert(span<slot_state> slots, set_state& set, way_id way,
                                    cache_access const&) const noexcept {
    slots[way].visited = false;
    set.queue.push_young(slots, way);
  }
  INLAY_HD constexpr void on_hit(span<slot_state> slots, set_state&, way_id way,
                                 cache_access const&) const noexcept {
    slots[way].visited = true;
  }
  INLAY_HD constexpr void on_evict(span<slot_state> slots, set_state& set,
                                   way_id way) const noexcept {
    set.queue.remove(slots, way);
  }

  template <class Pinned>
  INLAY_HD constexpr way_id victim(span<slot_state> slots, set_state& set, cache_access const&,
                                   Pinned const& pinned) const noexcept {
    for (;;) {  // each round clears a bit
      auto const way = set.queue.oldest_loose(slots, pinned);
      if (way == no_way || !slots[way].visited) return way;
      slots[way].visited = false;
      set.queue.make_young(slots, way);
    }
  }
};

static_assert(cache_policy<clock>);

}  // namespace inlay::inline INLAY_ABI
