#pragma once

#include <inlay/cache/one_set.hpp>
#include <inlay/cache/policy_slots.hpp>
#include <inlay/cache/slot_pins.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/core/prefetch.hpp>
#include <inlay/vsid/key_index.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// Which row is in which slot of a cache, and which slots are pinned: all that a plan needs, and
/// none of the rows.
///
/// A step is planned in two passes: first all its hits are told to the policy and pinned, then its
/// misses are placed in order of first appearance; so no miss can evict what the step still needs.
/// What a plan waits for is memory, so each pass knows where it goes next and asks for it ahead:
/// find, mark, choose victims, take them out of the index, put the misses in. `Sets` knows where a
/// row may be: `one_set`, or `way_sets`.
template <class Cache, class Key, class Sets = one_set>
class cache_slots {
 public:
  /// What a row that is not here has for a slot.
  static constexpr slot_id absent = key_index<Key>::absent;

  /// Empty slots.
  cache_slots(Cache const& cache, Sets sets)
      : sets_(std::move(sets)),
        policy_(make_policy_slots<Sets::ways>(cache, capacity())),
        pins_(capacity()) {
    rows_.assign(capacity(), {});
    index_.reserve(capacity() +
                   capacity() / 4);  // a slot is hundreds of bytes, a look-up the whole cost
  }

  /// Slots in all.
  [[nodiscard]] std::size_t capacity() const noexcept { return sets_.capacity(); }
  /// Where rows may be, and how many are.
  [[nodiscard]] Sets const& sets() const noexcept { return sets_; }
  /// Steps that hold slots.
  [[nodiscard]] std::size_t steps() const noexcept {
    return pins_.steps() - (kept_by_ == slot_pins::none ? 0U : 1U);
  }
  /// Slots that are kept for good.
  [[nodiscard]] std::size_t kept() const noexcept { return kept_; }
  /// Memory held.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return index_.bytes() + rows_.capacity_bytes() + pins_.bytes() + sets_.bytes();
  }

  /// Calls visit(i, slot or absent) for every key, in order. Changes nothing.
  template <class Visit>
  void find_each(span<Key const> keys, Visit&& visit) const {
    index_.find_each(keys, std::forward<Visit>(visit));
  }

  /// Begins a plan: slots[u] becomes the slot of a hit, or `absent`, and misses are listed. Throws
  /// what `refuse(needed, available)` throws if the step does not fit beside the steps in flight;
  /// among many sets, what `refuse(needed, available, set)` throws. Nothing has changed then, and
  /// `place` needs no memory.
  template <class Refuse>
  void find(host_exec const& exec, span<Key const> keys, span<slot_id> slots,
            Refuse const& refuse) {
    exec.for_pieces(keys.size(), keys_a_piece, [&](std::size_t first, std::size_t last) {
      index_.find_each(keys.subspan(first, last - first),
                       [&](std::size_t i, std::uint32_t slot) { slots[first + i] = slot; });
    });
    sort_out(slots);
    auto const misses = missed_.size();
    missed_keys_.resize(misses);
    for (std::size_t m = 0; m < misses; ++m) {
      missed_keys_[m] = keys[missed_[m]];
    }
    victims_.resize(misses);
    pins_.reserve();
    placed_ = sets_.plan(pins_, slots, missed_.view(), missed_keys_.view(), refuse);
  }

  /// The misses of the plan at hand: places among its keys; ascending, first those that get a slot,
  /// then those that don't. // (misses)
  [[nodiscard]] span<std::uint32_t const> missed() const noexcept { return missed_.view(); }
  /// And their keys. // (misses)
  [[nodiscard]] span<Key const> missed_keys() const noexcept { return missed_keys_.view(); }
  /// How many of the misses get a slot: the first ones. The others are spilled: the step must use
  /// them in the table.
  [[nodiscard]] std::size_t placed() const noexcept { return placed_; }
  /// How many of those have taken a slot that was empty, when the plan is carried out. Each of the
  /// others has taken the slot of a victim.
  [[nodiscard]] std::size_t fresh() const noexcept { return sets_.fresh(); }

  /// Carries the plan out: tells the policy, gives misses their slots, pins all, and returns the
  /// name of the pins. If the policy throws, the misses it has placed stay, unpinned, `missed`
  /// lists only those, and `slots` has `absent` for the others.
  [[nodiscard]] slot_pins::set_id place(host_exec const& exec, span<Key const> keys,
                                        span<std::uint32_t const> counts, step_id step,
                                        span<slot_id> slots) {
    auto const pins = pins_.open();
    try {
      with_policy(policy_, [&](auto& policy) {
        mark_hits(policy, pins, keys, counts, step, slots);
        choose_slots(policy, pins, counts, step, slots);
      });
    } catch (...) {
      keep_placed(slots);
      update_index(exec, slots);
      release(pins);
      throw;
    }
    update_index(exec, slots);
    sets_.note_spilled(pins, missed_keys().subspan(placed_));
    return pins;
  }

  /// Lets go of a step's slots; the rows stay until the policy gives them up.
  void release(slot_pins::set_id pins) noexcept {
    sets_.forget_spilled(pins);
    pins_.close(pins);
  }

  /// Keeps for good the slots that the only step in flight holds; the step is over.
  void keep(slot_pins::set_id pins, span<slot_id const> slots) noexcept {
    if (kept_by_ == slot_pins::none) {
      kept_by_ = pins;
    } else {
      for (auto const slot : slots) {
        pins_.pin(kept_by_, slot);
      }
      pins_.close(pins);
    }
    kept_ = pins_.size();
  }

 private:
  static constexpr std::size_t keys_a_piece = 16384;
  /// Lists hits and misses; which is which can't be foretold, so both are written.
  void sort_out(span<slot_id const> slots) {
    hits_.resize(slots.size());
    missed_.resize(slots.size());
    std::size_t hits = 0;
    std::size_t misses = 0;
    for (std::size_t u = 0; u < slots.size(); ++u) {
      hits_[hits] = missed_[misses] = static_cast<std::uint32_t>(u);
      auto const is_missed = slots[u] == absent ? 1U : 0U;
      misses += is_missed;
      hits += 1 - is_missed;
    }
    hits_.resize(hits);
    missed_.resize(misses);
  }

  template <class Policy>
  void mark_hits(Policy& policy, slot_pins::set_id pins, span<Key const> keys,
                 span<std::uint32_t const> counts, step_id step, span<slot_id const> slots) {
    constexpr std::size_t far = 48;   // hits before its turn, a slot's state is asked for;
    constexpr std::size_t near = 24;  // and this many before, what the policy will touch beside it
    with_prefetch<far>(
        hits_.size(), [&](std::size_t h) { policy.prefetch(slots[hits_[h]]); },
        [&](std::size_t h) {
          if (h + near < hits_.size()) policy.prepare_hit(slots[hits_[h + near]]);
          auto const u = hits_[h];
          pins_.pin(pins, slots[u]);
          policy.on_hit(slots[u], {.hash = hash(keys[u]), .count = counts[u], .step = step});
        });
  }

  /// What is placed is noted before the policy is told, so that `keep_placed` finds it.
  template <class Policy>
  void choose_slots(Policy& policy, slot_pins::set_id pins, span<std::uint32_t const> counts,
                    step_id step, span<slot_id> slots) {
    with_prefetch<16>(
        placed_, [&](std::size_t m) { policy.prefetch_set(sets_.set_of_miss(m)); },
        [&](std::size_t m) {
          cache_access const use{
              .hash = hash(missed_keys_[m]), .count = counts[missed_[m]], .step = step};
          auto slot = sets_.take_empty(m);
          if (slot == absent) slot = evict(policy, m, use);
          slots[missed_[m]] = slot;
          pins_.pin(pins, slot);
          policy.on_insert(slot, use);
        });
  }

  template <class Policy>
  slot_id evict(Policy& policy, std::size_t miss, cache_access const& incoming) {
    auto const slot = policy.victim(sets_.set_of_miss(miss), incoming, pins_.any());
    expects(slot < capacity() && !pins_(slot),
            "the cache policy found no victim, or a pinned one, though slots are free to take");
    policy.on_evict(slot);
    sets_.note_victim(miss);
    return slot;
  }

  /// Forgets the misses that a failed plan has not placed.
  void keep_placed(span<slot_id const> slots) noexcept {
    while (placed_ > 0 && slots[missed_[placed_ - 1]] == absent) {
      --placed_;
    }
    missed_.resize(placed_);
    missed_keys_.resize(placed_);
    sets_.keep(placed_);
  }

  /// Takes the victims out of the index and puts the misses in.
  void update_index(host_exec const& exec, span<slot_id const> slots) {
    victims_.resize(placed_ - fresh());
    exec.for_pieces(placed_, keys_a_piece, [&](std::size_t first, std::size_t last) {
      with_prefetch<32>(
          last - first,
          [&](std::size_t at) { prefetch_line(rows_.data() + slots[missed_[first + at]]); },
          [&](std::size_t at) {
            auto const m = first + at;
            auto& row = rows_[slots[missed_[m]]];
            if (auto const v = sets_.victim_of(m); v != Sets::none) victims_[v] = row;
            row = missed_keys_[m];
          });
    });
    index_.erase_each(exec, std::as_const(victims_).view());
    index_.insert_each(exec, missed_keys().first(placed_),
                       [&](std::size_t m) { return slots[missed_[m]]; });
  }

  Sets sets_;
  any_policy_slots<Cache, Sets::ways> policy_;
  buffer<Key> rows_;  // (capacity)
  slot_pins pins_;
  slot_pins::set_id kept_by_ = slot_pins::none;  // one set, whenever it was that they came
  std::size_t kept_ = 0;
  key_index<Key> index_;  // row → slot

  // Of the plan at hand.
  buffer<std::uint32_t> hits_;    // (hits), places within the step's keys
  buffer<std::uint32_t> missed_;  // (misses), places within the step's keys
  buffer<Key> missed_keys_;       // (misses)
  buffer<Key> victims_;           // (placed - fresh)
  std::size_t placed_ = 0;        // misses that get a slot
};

}  // namespace inlay::inline INLAY_ABI
