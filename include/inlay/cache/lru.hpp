#pragma once

#include <inlay/cache/cache_policy.hpp>
#include <inlay/cache/slot_list.hpp>

namespace inlay::inline INLAY_ABI {

/// Least recently used goes first.
///
/// Wins where what was used is used again soon: sessions, drifting interest. Loses where a batch
/// brings many ids that never return, for each of them takes a whole cache length to leave.
struct lru {
  static constexpr char const* name = "lru";

  struct slot_state {
    link at;  ///< in the queue
  };
  struct set_state {
    slot_list queue;  ///< by last use
  };

  INLAY_HD constexpr void reset(span<slot_state>, set_state& set) const noexcept { set = {}; }

  INLAY_HD constexpr void on_insert(span<slot_state> slots, set_state& set, way_id way,
                                    cache_access const&) const noexcept {
    set.queue.push_young(slots, way);
  }
  INLAY_HD constexpr void on_hit(span<slot_state> slots, set_state& set, way_id way,
                                 cache_access const&) const noexcept {
    set.queue.make_young(slots, way);
  }
  INLAY_HD void prepare_hit(span<slot_state const> slots, way_id way) const noexcept {
    slot_list::prefetch_neighbours(slots, way);
  }
  INLAY_HD constexpr void on_evict(span<slot_state> slots, set_state& set,
                                   way_id way) const noexcept {
    set.queue.remove(slots, way);
  }

  template <class Pinned>
  INLAY_HD constexpr way_id victim(span<slot_state> slots, set_state& set, cache_access const&,
                                   Pinned const& pinned) const noexcept {
    return set.queue.oldest_loose(slots, pinned);
  }
};

static_assert(cache_policy<lru>);

}  // namespace inlay::inline INLAY_ABI
