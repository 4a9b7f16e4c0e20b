#pragma once

#include <inlay/cache/cache_policy.hpp>
#include <inlay/cache/slot_list.hpp>

namespace inlay::inline INLAY_ABI {

/// First in, first out: a hit changes nothing.
///
/// Wins by its cost alone, and where every id is used for a while and then never again. Loses
/// wherever some ids are used more than others, for those leave with the crowd. Pinned slots that
/// are met count as new, which the textbook does not have.
struct fifo {
  static constexpr char const* name = "fifo";

  struct slot_state {
    link at;  ///< in the queue
  };
  struct set_state {
    slot_list queue;  ///< by arrival
  };

  INLAY_HD constexpr void reset(span<slot_state>, set_state& set) const noexcept { set = {}; }

  INLAY_HD constexpr void on_insert(span<slot_state> slots, set_state& set, way_id way,
                                    cache_access const&) const noexcept {
    set.queue.push_young(slots, way);
  }
  INLAY_HD constexpr void on_hit(span<slot_state>, set_state&, way_id,
                                 cache_access const&) const noexcept {}
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

static_assert(cache_policy<fifo>);

}  // namespace inlay::inline INLAY_ABI
