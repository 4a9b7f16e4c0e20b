#pragma once

#include <inlay/cache/cache_set.hpp>
#include <inlay/cache/one_set.hpp>
#include <inlay/cache/set_overflow.hpp>
#include <inlay/cache/slot_pins.hpp>
#include <inlay/cache/spilled_rows.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/hash.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/core/views.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// Sets of `Ways` slots, one behind the other: what `cache_slots` knows of them, as of `one_set`.
///
/// How many ways a set can give to a plan does not depend on the policy, only on how many are
/// pinned; so every row's set is known, and whether all rows find one, before anything changes.
template <class Key, std::uint32_t Ways>
class way_sets {
  static_assert(Ways > 0, "a set needs at least one way");

 public:
  /// Ways of a set, for `policy_slots`.
  static constexpr std::uint32_t ways = Ways;
  /// Whether a row may be left out of the cache.
  static constexpr bool may_spill = true;
  /// No victim.
  static constexpr std::size_t none = one_set::none;

  /// All slots empty. The capacity is a multiple of `Ways`.
  way_sets(std::size_t capacity, set_overflow overflow) : overflow_(overflow) {
    if (one_set::checked(capacity) % Ways != 0) {
      fail("a cache of " + std::to_string(capacity) + " rows can't be cut into sets of " +
           std::to_string(Ways) + " ways: make it a multiple of that");
    }
    filled_.assign(capacity / Ways, 0);
    room_.resize(filled_.size());
  }

  /// Slots in all.
  [[nodiscard]] std::size_t capacity() const noexcept { return filled_.size() * Ways; }
  /// Slots that hold a row.
  [[nodiscard]] std::size_t used() const noexcept { return used_; }
  /// One behind the last that may hold one.
  [[nodiscard]] std::size_t extent() const noexcept { return capacity(); }
  /// Memory held.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return filled_.capacity_bytes() + room_.capacity_bytes() + sets_.capacity_bytes() +
           victims_.capacity_bytes() + left_out_.capacity_bytes() + left_keys_.capacity_bytes() +
           spilled_.bytes();
  }
  /// Whether every step has room, however many rows it has.
  [[nodiscard]] bool always_fits() const noexcept { return overflow_ == set_overflow::spill; }
  /// Slots of each set.
  [[nodiscard]] std::size_t set_size() const noexcept { return Ways; }

  /// The sets that a row may be in, by its hash; twice the same if it is only one. The second is
  /// another than the first where there are two.
  [[nodiscard]] std::array<std::size_t, 2> sets_of(std::uint64_t hash) const noexcept {
    auto const first = set_of(hash, filled_.size());
    if (overflow_ != set_overflow::second_set || filled_.size() == 1) return {first, first};
    auto const other = set_of(mix(hash), filled_.size() - 1);
    return {first, other < first ? other : other + 1};
  }

  /// Decides which misses get a slot and in which set, in order; or `refuse(needed, available,
  /// set)` throws. Misses without a slot go behind the others. Nothing changes but scratch. Returns
  /// how many get one: the first ones.
  template <class Refuse>
  std::size_t plan(slot_pins const& pins, span<slot_id const> slots, span<std::uint32_t> missed,
                   span<Key> keys, Refuse const& refuse) {
    prepare(keys.size());
    count_room(pins, slots);
    std::size_t placed = 0;
    for (std::size_t m = 0; m < keys.size(); ++m) {
      auto const set = set_with_room(keys[m]);
      if (set == none && !always_fits()) refuse_miss(pins, slots, keys, m, refuse);
      if (set == none) {
        left_out_.push_back(missed[m]);
        left_keys_.push_back(keys[m]);
        continue;
      }
      --room_[set];
      second_ += set != sets_of(hash(keys[m]))[0] ? 1U : 0U;
      sets_[placed] = static_cast<std::uint32_t>(set);
      missed[placed] = missed[m];
      keys[placed++] = keys[m];
    }
    std::copy(left_out_.begin(), left_out_.end(), missed.subspan(placed).begin());
    std::copy(left_keys_.begin(), left_keys_.end(), keys.subspan(placed).begin());
    return placed;
  }

  /// Misses that have taken a slot that was empty.
  [[nodiscard]] std::size_t fresh() const noexcept { return fresh_; }
  /// Misses that get a slot in another set than their first.
  [[nodiscard]] std::size_t second() const noexcept { return second_; }
  /// The set of a miss that gets a slot.
  [[nodiscard]] std::size_t set_of_miss(std::size_t miss) const noexcept { return sets_[miss]; }
  /// The place of a miss's victim among all victims of the plan; `none` if its slot was empty.
  [[nodiscard]] std::size_t victim_of(std::size_t miss) const noexcept { return victims_[miss]; }

  /// An empty slot for a miss; `no_way` if there is none in its set.
  [[nodiscard]] slot_id take_empty(std::size_t miss) noexcept {
    auto const set = sets_[miss];
    if (filled_[set] == Ways) return no_way;
    ++fresh_;
    ++used_;
    victims_[miss] = none;
    return static_cast<slot_id>(set * std::size_t{Ways} + filled_[set]++);
  }
  /// A miss has got a victim's slot.
  void note_victim(std::size_t miss) noexcept { victims_[miss] = miss - fresh_; }
  /// The plan has failed, and only its first misses have got their slots.
  void keep(std::size_t) noexcept {}

  /// A step, by its pins, uses rows in the table.
  void note_spilled(slot_pins::set_id step, span<Key const> keys) noexcept {
    spilled_.note(step, keys);
  }
  /// The step is done with them.
  void forget_spilled(slot_pins::set_id step) noexcept { spilled_.forget(step); }

 private:
  /// Makes room for so many misses.
  void prepare(std::size_t misses) {
    sets_.resize(misses);
    victims_.resize(misses);
    left_out_.resize(misses);
    left_keys_.resize(misses);
    spilled_.reserve(misses);
    left_out_.clear();
    left_keys_.clear();
    fresh_ = second_ = 0;
  }

  /// Ways of every set that neither the plan's hits nor steps in flight pin.
  void count_room(slot_pins const& pins, span<slot_id const> slots) noexcept {
    std::fill(room_.begin(), room_.end(), Ways);
    pins.for_each([&](slot_id slot) { --room_[slot / Ways]; });
    auto const any_pinned = pins.size() > 0;
    for (auto const slot : slots) {
      if (slot != no_way && !(any_pinned && pins(slot))) --room_[slot / Ways];
    }
  }

  /// Where a miss has a way; `none` if nowhere, or if it must be used in the table.
  [[nodiscard]] std::size_t set_with_room(Key key) const noexcept {
    if (!spilled_.empty() && spilled_.contains(key)) return none;
    for (auto const set : sets_of(hash(key))) {
      if (room_[set] > 0) return set;
    }
    return none;
  }

  /// Says of a miss's first set what the step needs there: ways for its hits, for the misses that
  /// were to go there, and for those that come yet.
  template <class Refuse>
  void refuse_miss(slot_pins const& pins, span<slot_id const> slots, span<Key const> keys,
                   std::size_t miss, Refuse const& refuse) const {
    auto const set = sets_of(hash(keys[miss]))[0];
    std::size_t needed = 0;
    std::size_t available = Ways;
    pins.for_each([&](slot_id slot) { available -= slot / Ways == set ? 1U : 0U; });
    for (auto const slot : slots) {
      if (slot == no_way || slot / Ways != set) continue;
      ++needed;
      available += pins(slot) ? 1U : 0U;
    }
    for (std::size_t m = 0; m < keys.size(); ++m) {
      auto const its = m < miss ? sets_[m] : sets_of(hash(keys[m]))[0];
      needed += its == set ? 1U : 0U;
    }
    refuse(needed, available, set);
  }

  set_overflow overflow_;
  buffer<way_id> filled_;      // (sets), ways that hold a row: the first ones
  std::size_t used_ = 0;       // their sum
  spilled_rows<Key> spilled_;  // by steps in flight

  // Of the plan at hand.
  buffer<std::uint32_t> room_;      // (sets), ways that are left
  buffer<std::uint32_t> sets_;      // (misses), those with a slot
  buffer<std::size_t> victims_;     // (misses), the same
  buffer<std::uint32_t> left_out_;  // (misses without a slot), as in the plan's list
  buffer<Key> left_keys_;           // (misses without a slot)
  std::size_t fresh_ = 0;
  std::size_t second_ = 0;
};

}  // namespace inlay::inline INLAY_ABI
