#pragma once

#include <inlay/cache/cache_policy.hpp>
#include <inlay/cache/frequency_sketch.hpp>
#include <inlay/cache/pinned_list.hpp>
#include <inlay/core/error.hpp>

#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// W-TinyLFU (Einziger, Friedman and Manes, 2017): newcomers pass a window; who leaves it stays
/// only if a sketch of the recent past says that it is used more often than who would have to go.
///
/// Wins where popularity is skewed and a window full of newcomers is not worth a favourite. Loses
/// to LRU where ids come in bursts, for the sketch learns slowly; the window grows or shrinks with
/// the hit rate, which helps in part (Einziger et al., 2018). Unlike in the papers the sketch is
/// cells, one per slot, that age steadily, and a pinned slot counts as used now.
struct w_tiny_lfu {
  static constexpr char const* name = "w_tiny_lfu";

  float window_share = 0.01F;    ///< of the slots, to begin with; 0 to 1
  float protected_share = 0.8F;  ///< of the others, for rows used again there; 0 to 1
  std::uint32_t age_after = 10;  ///< uses per slot in which all counts are halved once; 0: never

  struct slot_state {
    link at;                      ///< in its list
    std::uint32_t tag = 0;        ///< of its row, for the sketch
    std::uint32_t list = window;  ///< it is in
    std::uint64_t counters = 0;   ///< of the sketch
  };
  struct set_state {
    pinned_list lists[3];          ///< window, probation, protected; by last use
    frequency_sketch frequencies;  ///< of all rows seen lately, here or not
    float window_slots = 1.0F;     ///< that the window may have
    float step = 0.0F;             ///< by which that changes next
    std::uint64_t hits = 0;        ///< in this period
    std::uint64_t uses = 0;        ///< in this period
    float hit_rate = 0.0F;         ///< of the period before
  };

  void check() const {
    expects(window_share >= 0.0F && window_share <= 1.0F, "window_share must be between 0 and 1");
    expects(protected_share >= 0.0F && protected_share <= 1.0F,
            "protected_share must be between 0 and 1");
  }

  INLAY_HD constexpr void reset(span<slot_state> slots, set_state& set) const noexcept {
    set = {};
    auto const all = static_cast<float>(slots.size());
    set.window_slots = window_share * all < 1.0F ? 1.0F : window_share * all;
    set.step = all / 16.0F;
    for (auto& slot : slots) {
      slot.counters = 0;
    }
  }

  INLAY_HD constexpr void on_insert(span<slot_state> slots, set_state& set, way_id way,
                                    cache_access const& use) const noexcept {
    slots[way].tag = static_cast<std::uint32_t>(use.hash >> 32U);
    count(slots, set, way, use, 0);
    slots[way].list = window;
    set.lists[window].push_young(slots, way);
    while (static_cast<float>(set.lists[window].size) > set.window_slots) {
      move(slots, set, set.lists[window].oldest, probation);
    }
  }
  INLAY_HD constexpr void on_hit(span<slot_state> slots, set_state& set, way_id way,
                                 cache_access const& use) const noexcept {
    count(slots, set, way, use, 1);
    auto const to = slots[way].list == window ? window : guarded;
    move(slots, set, way, to);
    auto const others = static_cast<float>(slots.size()) - set.window_slots;
    if (to == guarded && static_cast<float>(set.lists[guarded].size) > protected_share * others) {
      move(slots, set, set.lists[guarded].oldest, probation);
    }
  }
  INLAY_HD void prepare_hit(span<slot_state const> slots, way_id way) const noexcept {
    slot_list::prefetch_neighbours(slots, way);
  }
  INLAY_HD constexpr void on_evict(span<slot_state> slots, set_state& set,
                                   way_id way) const noexcept {
    set.lists[slots[way].list].remove(slots, way);
  }

  template <class Pinned>
  INLAY_HD constexpr way_id victim(span<slot_state> slots, set_state& set,
                                   cache_access const& incoming,
                                   Pinned const& pinned) const noexcept {
    for (int look = 0; look < 2; ++look) {
      way_id oldest[3] = {no_way, no_way, no_way};
      oldest[probation] = set.lists[probation].oldest_loose(slots, pinned, incoming.step);
      if (oldest[probation] == no_way) {
        oldest[probation] = set.lists[guarded].oldest_loose(slots, pinned, incoming.step);
      }
      auto const is_full = static_cast<float>(set.lists[window].size + 1) > set.window_slots;
      if (is_full || oldest[probation] == no_way) {
        oldest[window] = set.lists[window].oldest_loose(slots, pinned, incoming.step);
      }
      auto const way = rarer(slots, oldest[window], oldest[probation]);
      if (way != no_way) return way;
      for (auto& list : set.lists) {
        list.look_again();
      }
    }
    return no_way;
  }

 private:
  static constexpr std::uint32_t window = 0;
  static constexpr std::uint32_t probation = 1;
  static constexpr std::uint32_t guarded = 2;  // "protected" is a word of the language

  INLAY_HD static constexpr void move(span<slot_state> slots, set_state& set, way_id way,
                                      std::uint32_t list) noexcept {
    set.lists[slots[way].list].remove(slots, way);
    slots[way].list = list;
    set.lists[list].push_young(slots, way);
  }

  /// Of a row that would leave the window and one outside it, the one to go.
  [[nodiscard]] INLAY_HD static constexpr way_id rarer(span<slot_state> slots, way_id candidate,
                                                       way_id other) noexcept {
    if (candidate == no_way) return other;
    if (other == no_way) return candidate;
    return frequency_sketch::estimate(slots, slots[candidate].tag) >
                   frequency_sketch::estimate(slots, slots[other].tag)
               ? other
               : candidate;
  }

  INLAY_HD constexpr void count(span<slot_state> slots, set_state& set, way_id way,
                                cache_access const& use, std::uint32_t hits) const noexcept {
    set.frequencies.add(slots, slots[way].tag, use.count, age_after);
    set.hits += hits;
    if (++set.uses < 10 * slots.size()) return;
    auto const rate = static_cast<float>(set.hits) / static_cast<float>(set.uses);
    climb(static_cast<float>(slots.size()), set, rate);
    set.hits = set.uses = 0;
  }

  /// The window goes on in the direction that has paid, by smaller and smaller steps; where the hit
  /// rate has changed much the steps begin anew.
  INLAY_HD static constexpr void climb(float slots, set_state& set, float rate) noexcept {
    auto const change = rate - set.hit_rate;
    auto const onward = change >= 0.0F ? set.step : -set.step;
    auto const big = onward < 0.0F ? -slots / 16.0F : slots / 16.0F;
    set.step = change > 0.05F || change < -0.05F ? big : 0.98F * onward;
    set.window_slots += onward;
    auto const most = 0.8F * slots;
    if (set.window_slots > most) set.window_slots = most;
    if (set.window_slots < 1.0F) set.window_slots = 1.0F;
    set.hit_rate = rate;
  }
};

static_assert(cache_policy<w_tiny_lfu>);

}  // namespace inlay::inline INLAY_ABI
