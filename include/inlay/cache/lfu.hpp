#pragma once

#include <inlay/cache/cache_policy.hpp>
#include <inlay/cache/pinned_list.hpp>

#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Least frequently used goes first, of several the one that has been so for the longest time; all
/// counts are halved now and then.
///
/// Wins where popularity is skewed and steady, as over a day of clicks. Loses where interest
/// drifts, and to ids that are used twice each: without ageing the first that came never leave.
/// Counts end at 63, so that there is a list for each: a hit moves its slot to another, and halving
/// joins two lists to one, which costs the same for any number of slots. (The textbook counts on,
/// and keeps a heap or a list of lists.)
struct lfu {
  static constexpr char const* name = "lfu";
  static constexpr std::uint32_t counts = 64;  ///< 0 to 63

  std::uint32_t age_after = 10;  ///< accesses per slot between two halvings; 0: never halved

  struct slot_state {
    link at;                     ///< among the slots of its count
    std::uint32_t count = 0;     ///< uses, as of `halvings`
    std::uint32_t halvings = 0;  ///< of the set, when `count` was written
  };
  struct set_state {
    pinned_list of_count[counts];   ///< slots, by when they came to have it
    std::uint32_t lowest = counts;  ///< no slot has a lower count
    std::uint32_t halvings = 0;     ///< so far
    std::uint64_t accesses = 0;     ///< since the last
  };

  INLAY_HD constexpr void reset(span<slot_state>, set_state& set) const noexcept { set = {}; }

  INLAY_HD constexpr void on_insert(span<slot_state> slots, set_state& set, way_id way,
                                    cache_access const& use) const noexcept {
    age(slots, set);
    put(slots, set, way, use.count);
  }
  INLAY_HD constexpr void on_hit(span<slot_state> slots, set_state& set, way_id way,
                                 cache_access const& use) const noexcept {
    age(slots, set);
    auto const count = count_of(slots[way], set);
    set.of_count[count].remove(slots, way);
    put(slots, set, way, std::uint64_t{count} + use.count);
  }
  INLAY_HD constexpr void on_evict(span<slot_state> slots, set_state& set,
                                   way_id way) const noexcept {
    set.of_count[count_of(slots[way], set)].remove(slots, way);
  }

  template <class Pinned>
  INLAY_HD constexpr way_id victim(span<slot_state> slots, set_state& set,
                                   cache_access const& incoming,
                                   Pinned const& pinned) const noexcept {
    for (int look = 0; look < 2; ++look) {
      for (auto count = set.lowest; count < counts; ++count) {
        auto& list = set.of_count[count];
        if (list.size == 0 && count == set.lowest) ++set.lowest;
        auto const way = list.oldest_loose(slots, pinned, incoming.step);
        if (way != no_way) return way;
      }
      for (auto& list : set.of_count) {
        list.look_again();
      }
    }
    return no_way;
  }

 private:
  [[nodiscard]] INLAY_HD static constexpr std::uint32_t count_of(slot_state const& slot,
                                                                 set_state const& set) noexcept {
    auto const halvings = set.halvings - slot.halvings;
    return halvings < 32 ? slot.count >> halvings : 0;
  }

  INLAY_HD static constexpr void put(span<slot_state> slots, set_state& set, way_id way,
                                     std::uint64_t count) noexcept {
    auto const kept = static_cast<std::uint32_t>(count < counts ? count : counts - 1);
    slots[way].count = kept;
    slots[way].halvings = set.halvings;
    set.of_count[kept].push_young(slots, way);
    if (kept < set.lowest) set.lowest = kept;
  }

  /// Halves all counts if it is time to: the slots of 2 k and 2 k + 1 become those of k.
  INLAY_HD constexpr void age(span<slot_state> slots, set_state& set) const noexcept {
    if (age_after == 0 || ++set.accesses < slots.size() * age_after) return;
    set.accesses = 0;
    ++set.halvings;
    for (std::uint32_t count = 1; count < counts; ++count) {
      set.of_count[count / 2].take_all(slots, set.of_count[count]);
    }
    set.lowest /= 2;
  }
};

static_assert(cache_policy<lfu>);

}  // namespace inlay::inline INLAY_ABI
