#pragma once

#include <inlay/cache/cache_policy.hpp>
#include <inlay/cache/ghosts.hpp>
#include <inlay/cache/pinned_list.hpp>

#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// ARC (Megiddo and Modha, FAST 2003): recently used once, recently used more often, each a list by
/// last use; ghosts of either say which of the two should be longer.
///
/// Wins where the mix of new and returning ids changes, for it has no knob. Loses, a little, to
/// S3-FIFO and SIEVE where ids that never return are most. Unlike in the paper the ghosts of both
/// lists share cells, one per slot, and a pinned slot counts as used now.
struct arc {
  static constexpr char const* name = "arc";

  struct slot_state {
    link at;                    ///< in its list
    std::uint32_t tag = 0;      ///< of its row, for the ghost
    std::uint32_t list = once;  ///< it is in
    ghost_cell ghost;           ///< of another row
  };
  struct set_state {
    pinned_list lists[2];          ///< used once, used more often; by last use
    ghosts gone;                   ///< of both
    std::uint32_t ghosts_of[2]{};  ///< how many
    float once_slots = 0.0F;       ///< the paper's p: slots for rows used once
  };

  INLAY_HD constexpr void reset(span<slot_state> slots, set_state& set) const noexcept {
    set = {};
    for (auto& slot : slots) {
      slot.ghost = {};
    }
  }

  INLAY_HD constexpr void on_insert(span<slot_state> slots, set_state& set, way_id way,
                                    cache_access const& use) const noexcept {
    auto& slot = slots[way];
    slot.tag = ghosts::tag_of(use.hash);
    slot.list = once;
    if (auto const at = ghosts::find(slots, slot.tag); at != no_way) {
      auto& ghost = slots[at].ghost;
      set.once_slots = wanted(slots.size(), set, ghost.list);
      --set.ghosts_of[ghost.list];
      ghost = {};
      slot.list = often;
    }
    set.lists[slot.list].push_young(slots, way);
  }
  INLAY_HD constexpr void on_hit(span<slot_state> slots, set_state& set, way_id way,
                                 cache_access const&) const noexcept {
    set.lists[slots[way].list].remove(slots, way);
    slots[way].list = often;
    set.lists[often].push_young(slots, way);
  }
  INLAY_HD void prepare_hit(span<slot_state const> slots, way_id way) const noexcept {
    slot_list::prefetch_neighbours(slots, way);
  }
  INLAY_HD constexpr void on_evict(span<slot_state> slots, set_state& set,
                                   way_id way) const noexcept {
    auto const& slot = slots[way];
    set.lists[slot.list].remove(slots, way);
    // The ghosts of rows used once are as many as make up a cache with those that are here.
    auto const most = slots.size() - set.lists[once].size;
    auto const given_up = set.ghosts_of[once] >= most ? once : often;
    auto const before = set.gone.remember(slots, slot.tag, slot.list, given_up);
    if (before.gone_at != 0) --set.ghosts_of[before.list];
    ++set.ghosts_of[slot.list];
  }

  template <class Pinned>
  INLAY_HD constexpr way_id victim(span<slot_state> slots, set_state& set,
                                   cache_access const& incoming,
                                   Pinned const& pinned) const noexcept {
    auto const ghost = ghosts::find(slots, ghosts::tag_of(incoming.hash));
    auto const from = ghost == no_way ? once : std::uint32_t{slots[ghost].ghost.list};
    auto const target = ghost == no_way ? set.once_slots : wanted(slots.size(), set, from);
    auto const size = static_cast<float>(set.lists[once].size);
    auto const first = size > target || (from == often && size == target) ? once : often;
    for (int look = 0; look < 2; ++look) {
      for (std::uint32_t turn = 0; turn < 2; ++turn) {
        auto const way =
            set.lists[turn == 0 ? first : 1 - first].oldest_loose(slots, pinned, incoming.step);
        if (way != no_way) return way;
      }
      set.lists[once].look_again();
      set.lists[often].look_again();
    }
    return no_way;
  }

 private:
  static constexpr std::uint32_t once = 0;
  static constexpr std::uint32_t often = 1;

  /// How many slots the rows used once should have, now that one of a ghost comes back.
  [[nodiscard]] INLAY_HD static constexpr float wanted(std::size_t slots, set_state const& set,
                                                       std::uint32_t list) noexcept {
    auto const own = static_cast<float>(set.ghosts_of[list]);
    auto const others = static_cast<float>(set.ghosts_of[1 - list]);
    auto const step = others > own ? others / own : 1.0F;  // own > 0, for the ghost is one
    auto const all = static_cast<float>(slots);
    if (list == once) return set.once_slots + step < all ? set.once_slots + step : all;
    return set.once_slots > step ? set.once_slots - step : 0.0F;
  }
};

static_assert(cache_policy<arc>);

}  // namespace inlay::inline INLAY_ABI
