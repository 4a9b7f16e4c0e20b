#pragma once

#include <inlay/cache/cache_policy.hpp>
#include <inlay/cache/ghosts.hpp>
#include <inlay/cache/pinned_list.hpp>
#include <inlay/core/error.hpp>

#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// S3-FIFO (Yang et al., SOSP 2023): a small queue that most newcomers leave again, a main queue
/// for those that were used twice meanwhile or come back soon, and ghosts to know the latter.
///
/// Wins where most ids of a batch never return, as in the tail of a click log. Loses where ids
/// return just after the small queue's length, and where popularity moves faster than the main
/// queue turns. Unlike in the paper ghosts are cells, one per slot, and pinned slots are passed by.
struct s3_fifo {
  static constexpr char const* name = "s3_fifo";

  float small_share = 0.1F;  ///< of the slots, for newcomers; 0 to 1
  float ghost_share = 0.9F;  ///< of the slots: as many rows that have gone are known; 0 to 1
  std::uint32_t promote_at =
      2;  ///< uses, after the first, that lead into the main queue; at most 3

  struct slot_state {
    link at;                 ///< in its queue
    std::uint32_t tag = 0;   ///< of its row, for the ghost
    std::uint16_t uses = 0;  ///< after the first, at most 3
    bool is_main = false;    ///< which queue it is in
    ghost_cell ghost;        ///< of another row
  };
  struct set_state {
    pinned_list small;      ///< by arrival
    pinned_list main;       ///< by arrival or second chance
    ghosts gone;            ///< from the small queue
    bool was_full = false;  ///< once; until then newcomers fill both queues
  };

  void check() const {
    expects(small_share >= 0.0F && small_share <= 1.0F, "small_share must be between 0 and 1");
    expects(ghost_share >= 0.0F && ghost_share <= 1.0F, "ghost_share must be between 0 and 1");
    expects(promote_at <= most_uses, "promote_at must be at most 3: uses are counted no further");
  }

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
    slot.uses = 0;
    slot.is_main = came_back(slots, set, slot.tag) ||
                   (!set.was_full && set.small.size >= small_slots(slots.size()));
    (slot.is_main ? set.main : set.small).push_young(slots, way);
  }
  INLAY_HD constexpr void on_hit(span<slot_state> slots, set_state&, way_id way,
                                 cache_access const&) const noexcept {
    if (slots[way].uses < most_uses) ++slots[way].uses;
  }
  INLAY_HD constexpr void on_evict(span<slot_state> slots, set_state& set,
                                   way_id way) const noexcept {
    auto const& slot = slots[way];
    (slot.is_main ? set.main : set.small).remove(slots, way);
    if (!slot.is_main) set.gone.remember(slots, slot.tag, 0, 0);
  }

  template <class Pinned>
  INLAY_HD constexpr way_id victim(span<slot_state> slots, set_state& set,
                                   cache_access const& incoming,
                                   Pinned const& pinned) const noexcept {
    set.was_full = true;
    for (int look = 0; look < 3; ++look) {  // the second may lead loose slots into a queue left out
      auto const main_slots = slots.size() - small_slots(slots.size());
      auto const is_main = set.main.size > main_slots;
      auto way = is_main ? from_main(slots, set, incoming.step, pinned)
                         : from_small(slots, set, incoming.step, pinned);
      if (way == no_way) {
        way = is_main ? from_small(slots, set, incoming.step, pinned)
                      : from_main(slots, set, incoming.step, pinned);
      }
      if (way != no_way) return way;
      set.small.look_again();
      set.main.look_again();
    }
    return no_way;
  }

 private:
  static constexpr std::uint16_t most_uses = 3;

  [[nodiscard]] INLAY_HD constexpr std::size_t small_slots(std::size_t slots) const noexcept {
    auto const share = static_cast<std::size_t>(small_share * static_cast<float>(slots));
    return share == 0 ? 1 : share;
  }

  [[nodiscard]] INLAY_HD constexpr bool came_back(span<slot_state> slots, set_state const& set,
                                                  std::uint32_t tag) const noexcept {
    auto const at = ghosts::find(slots, tag);
    if (at == no_way) return false;
    auto& ghost = slots[at].ghost;
    auto const is_known =
        static_cast<float>(set.gone.age(ghost)) < ghost_share * static_cast<float>(slots.size());
    ghost = {};
    return is_known;
  }

  template <class Pinned>
  [[nodiscard]] INLAY_HD constexpr way_id from_small(span<slot_state> slots, set_state& set,
                                                     step_id step,
                                                     Pinned const& pinned) const noexcept {
    for (;;) {
      auto const way = set.small.oldest_loose(slots, pinned, step);
      if (way == no_way || slots[way].uses < promote_at) return way;
      set.small.remove(slots, way);
      set.main.push_young(slots, way);
      slots[way].is_main = true;
      slots[way].uses = 0;
    }
  }

  template <class Pinned>
  [[nodiscard]] INLAY_HD constexpr way_id from_main(span<slot_state> slots, set_state& set,
                                                    step_id step,
                                                    Pinned const& pinned) const noexcept {
    for (;;) {
      auto const way = set.main.oldest_loose(slots, pinned, step);
      if (way == no_way || slots[way].uses == 0) return way;
      --slots[way].uses;
      set.main.make_young(slots, way);
    }
  }
};

static_assert(cache_policy<s3_fifo>);

}  // namespace inlay::inline INLAY_ABI
