#pragma once

// A cache policy of one's own. It stands in a header so that a trainer, the simulator and a kernel
// can include the same one.

#include <inlay/cache/cache_policy.hpp>
#include <inlay/cache/pinned_list.hpp>

namespace own {

using inlay::cache_access;
using inlay::no_way;
using inlay::way_id;

/// Segmented LRU (Karedla, Love and Wherry, 1994): newcomers are on probation, and a row that is
/// used again is protected. At most half of the slots are; of more the oldest falls back among the
/// newcomers. Who is on probation goes first.
struct slru {
  static constexpr char const* name = "slru";
  struct slot_state {
    inlay::link at;             // in its list
    bool is_protected = false;  // which list that is
  };
  struct set_state {
    inlay::pinned_list lists[2];  // on probation, protected; each by last use
  };
  using slots = inlay::span<slot_state>;
  INLAY_HD void reset(slots, set_state& set) const { set = {}; }
  INLAY_HD void on_insert(slots s, set_state& set, way_id way, cache_access const&) const {
    set.lists[s[way].is_protected = false].push_young(s, way);
  }
  INLAY_HD void on_hit(slots s, set_state& set, way_id way, cache_access const& use) const {
    on_evict(s, set, way);
    set.lists[s[way].is_protected = true].push_young(s, way);
    if (set.lists[true].size <= s.size() / 2) return;
    auto const fallen = set.lists[true].oldest;
    on_evict(s, set, fallen);
    on_insert(s, set, fallen, use);
  }
  INLAY_HD void on_evict(slots s, set_state& set, way_id way) const {
    set.lists[s[way].is_protected].remove(s, way);
  }
  INLAY_HD way_id victim(slots s, set_state& set, cache_access const& use, auto const& pin) const {
    for (int turn = 0; turn < 4; ++turn) {  // each list twice: it remembers that all were pinned
      if (turn > 1) set.lists[turn % 2].look_again();
      if (auto w = set.lists[turn % 2].oldest_loose(s, pin, use.step); w != no_way) return w;
    }
    return no_way;
  }
};
static_assert(inlay::cache_policy<slru>);

}  // namespace own
