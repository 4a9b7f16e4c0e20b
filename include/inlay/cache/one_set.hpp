#pragma once

#include <inlay/cache/policy_slots.hpp>
#include <inlay/cache/slot_pins.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/core/views.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Any row in any slot of a cache: what `cache_slots` knows of sets when there is one, as large as
/// the cache. `way_sets` is the same for many.
class one_set {
 public:
  /// Ways of a set, for `policy_slots`.
  static constexpr std::uint32_t ways = all_ways;
  /// Whether a row may be left out of the cache.
  static constexpr bool may_spill = false;
  /// No victim.
  static constexpr std::size_t none = ~std::size_t{0};

  /// All slots empty. Not explicit: a capacity is all that there is to say.
  one_set(std::size_t capacity) : capacity_(checked(capacity)) {}

  /// Throws unless a cache can have so many slots.
  [[nodiscard]] static std::size_t checked(std::size_t capacity) {
    expects(capacity > 0, "a cache needs at least one row");
    expects(capacity <= most_rows, "a cache holds at most 3 * 2^30 rows");
    return capacity;
  }

  /// Slots in all.
  [[nodiscard]] std::size_t capacity() const noexcept { return capacity_; }
  /// Slots that hold a row.
  [[nodiscard]] std::size_t used() const noexcept { return used_; }
  /// One behind the last of them.
  [[nodiscard]] std::size_t extent() const noexcept { return used_; }
  /// Memory held.
  [[nodiscard]] std::size_t bytes() const noexcept { return 0; }
  /// Whether every step has room, however many rows it has.
  [[nodiscard]] bool always_fits() const noexcept { return false; }
  /// Slots of each set.
  [[nodiscard]] std::size_t set_size() const noexcept { return capacity_; }
  /// The sets that a row may be in, by its hash; twice the same if it is only one.
  [[nodiscard]] std::array<std::size_t, 2> sets_of(std::uint64_t) const noexcept { return {0, 0}; }

  /// Decides which misses get a slot: all of them, or `refuse(needed, available)` throws. Nothing
  /// changes but scratch. Returns how many get one: the first ones.
  template <class Key, class Refuse>
  std::size_t plan(slot_pins const& pins, span<slot_id const> slots,
                   span<std::uint32_t const> missed, span<Key>, Refuse const& refuse) {
    fresh_ = std::min(missed.size(), capacity_ - used_);
    auto const available = capacity_ - pins.size() + shared(pins, slots);
    if (slots.size() > available) refuse(slots.size(), available);
    return missed.size();
  }

  /// Misses that take a slot that was empty.
  [[nodiscard]] std::size_t fresh() const noexcept { return fresh_; }
  /// Misses that get a slot in another set than their first.
  [[nodiscard]] std::size_t second() const noexcept { return 0; }
  /// The set of a miss that gets a slot.
  [[nodiscard]] std::size_t set_of_miss(std::size_t) const noexcept { return 0; }
  /// The place of a miss's victim among all victims of the plan; `none` if its slot was empty.
  [[nodiscard]] std::size_t victim_of(std::size_t miss) const noexcept {
    return miss >= fresh_ ? miss - fresh_ : none;
  }

  /// An empty slot for a miss; `no_way` if there is none.
  [[nodiscard]] slot_id take_empty(std::size_t miss) noexcept {
    return miss < fresh_ ? static_cast<slot_id>(used_++) : no_way;
  }
  /// A miss has got a victim's slot.
  void note_victim(std::size_t) noexcept {}
  /// The plan has failed, and only its first misses have got their slots.
  void keep(std::size_t misses) noexcept { fresh_ = std::min(fresh_, misses); }

  /// None is ever used in the table.
  template <class Key>
  void note_spilled(slot_pins::set_id, span<Key const>) noexcept {}
  /// Nothing to be done with.
  void forget_spilled(slot_pins::set_id) noexcept {}

 private:
  // So that the index has room to spare and still numbers them.
  static constexpr std::size_t most_rows = std::size_t{3} << 30U;

  /// How many of the slots are pinned by steps in flight.
  [[nodiscard]] static std::size_t shared(slot_pins const& pins,
                                          span<slot_id const> slots) noexcept {
    if (pins.size() == 0) return 0;
    std::size_t count = 0;
    for (auto const slot : slots) {
      count += slot != no_way && pins(slot) ? 1U : 0U;
    }
    return count;
  }

  std::size_t capacity_;
  std::size_t used_ = 0;   // slots filled so far: the first ones
  std::size_t fresh_ = 0;  // of the plan at hand
};

}  // namespace inlay::inline INLAY_ABI
