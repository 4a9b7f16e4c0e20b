#pragma once

#include <inlay/cache/cache_policy.hpp>
#include <inlay/cache/pinned_list.hpp>

#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Gives up the row that is used farthest in the future, as far as a window knows: first those of
/// which it knows no use, by last use, then those whose use is farthest off (Belády, 1966).
///
/// Wins wherever batches are known before they are trained: with the whole trace in the window it
/// is the optimum. Without a window it is LRU. `cache_access::next_use` says the step of the next
/// use; a list for each of the 64 steps to come holds the slots that it will need. Where a use that
/// was foretold does not come, the slot counts as used then.
struct look_ahead {
  static constexpr char const* name = "look_ahead";
  static constexpr std::int64_t window = 64;  ///< steps to come that are told apart

  struct slot_state {
    link at;                     ///< in its list
    std::int64_t next_use = -1;  ///< a step to come, or -1: in `beyond`
  };
  struct set_state {
    pinned_list soon[window];  ///< slots by the step of their next use, modulo the window
    pinned_list beyond;        ///< those without a known one; by last use
    std::int64_t now = -1;     ///< the latest step
  };

  INLAY_HD constexpr void reset(span<slot_state>, set_state& set) const noexcept { set = {}; }

  INLAY_HD constexpr void on_insert(span<slot_state> slots, set_state& set, way_id way,
                                    cache_access const& use) const noexcept {
    go_on(slots, set, number(use.step));
    auto const is_known = use.next_use > set.now && use.next_use - set.now <= window;
    slots[way].next_use = is_known ? use.next_use : -1;
    list_of(slots[way], set).push_young(slots, way);
  }
  INLAY_HD constexpr void on_hit(span<slot_state> slots, set_state& set, way_id way,
                                 cache_access const& use) const noexcept {
    on_evict(slots, set, way);
    on_insert(slots, set, way, use);
  }
  INLAY_HD constexpr void on_evict(span<slot_state> slots, set_state& set,
                                   way_id way) const noexcept {
    list_of(slots[way], set).remove(slots, way);
  }

  template <class Pinned>
  INLAY_HD constexpr way_id victim(span<slot_state> slots, set_state& set,
                                   cache_access const& incoming,
                                   Pinned const& pinned) const noexcept {
    go_on(slots, set, number(incoming.step));
    for (int look = 0; look < 2; ++look) {
      auto way = set.beyond.oldest_loose(slots, pinned, incoming.step);
      for (auto ahead = window; ahead > 0 && way == no_way; --ahead) {
        way = set.soon[(set.now + ahead) % window].oldest_loose(slots, pinned, incoming.step);
      }
      if (way != no_way) return way;
      set.beyond.look_again();
      for (auto& list : set.soon) {
        list.look_again();
      }
    }
    return no_way;
  }

 private:
  [[nodiscard]] INLAY_HD static constexpr pinned_list& list_of(slot_state const& slot,
                                                               set_state& set) noexcept {
    return slot.next_use > set.now ? set.soon[slot.next_use % window] : set.beyond;
  }

  /// What was to be used in the steps up to this one is in `beyond` from now on.
  INLAY_HD static constexpr void go_on(span<slot_state> slots, set_state& set,
                                       std::int64_t step) noexcept {
    if (step <= set.now) return;
    auto const last = step - set.now < window ? step : set.now + window;
    for (auto passed = set.now + 1; passed <= last; ++passed) {
      set.beyond.take_all(slots, set.soon[passed % window]);
    }
    set.now = step;
  }
};

static_assert(cache_policy<look_ahead>);

}  // namespace inlay::inline INLAY_ABI
