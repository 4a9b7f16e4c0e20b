#pragma once

#include <inlay/cache/cache_policy.hpp>
#include <inlay/cache/slot_list.hpp>

namespace inlay::inline INLAY_ABI {

/// SIEVE (Zhang et al., NSDI 2024): a queue by age, one bit per slot, and a hand that sifts.
///
/// A hit sets the bit and moves nothing. The hand walks from old to young: it clears set bits and
/// gives up the first slot whose bit is clear. Wins under skewed, steady popularity, for a newcomer
/// that is not used again leaves at once. Loses where interest drifts fast: old favourites stay a
/// round longer. The hand passes by pinned slots, which the paper does not have.
struct sieve {
  static constexpr char const* name = "sieve";

  struct slot_state {
    link at;               ///< in the queue
    bool visited = false;  ///< since the hand came by
  };
  struct set_state {
    slot_list queue;       ///< by arrival
    way_id hand = no_way;  ///< where the next search begins
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
    if (set.hand == way) set.hand = slots[way].at.younger;
    set.queue.remove(slots, way);
  }

  template <class Pinned>
  INLAY_HD constexpr way_id victim(span<slot_state> slots, set_state& set, cache_access const&,
                                   Pinned const& pinned) const noexcept {
    // Two rounds meet every slot once with its bit cleared. The hand goes on where it stood, so it
    // walks past pinned slots at most twice in a plan, however many misses the plan has.
    for (auto left = 2 * std::uint64_t{set.queue.size}; left > 0; --left) {
      auto const way = set.hand == no_way ? set.queue.oldest : set.hand;
      if (!pinned(way)) {
        if (!slots[way].visited) {
          set.hand = way;  // on_evict moves it on
          return way;
        }
        slots[way].visited = false;
      }
      set.hand = slots[way].at.younger;
    }
    return no_way;
  }
};

static_assert(cache_policy<sieve>);

}  // namespace inlay::inline INLAY_ABI
