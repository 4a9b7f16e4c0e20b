#pragma once

#include <inlay/cache/cache_policy.hpp>
#include <inlay/cache/policy_slots.hpp>
#include <inlay/testing/trial.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace inlay::inline INLAY_ABI {

namespace testing {

/// A policy's slots, filled and pinned as a cache would, with a note of what every slot is.
template <cache_policy Policy>
class watched_slots {
 public:
  /// All slots empty.
  watched_slots(Policy const& policy, std::size_t slots)
      : slots_(policy, slots), full_(slots, false), pins_(slots, false) {}

  /// How many slots there are.
  [[nodiscard]] std::size_t size() const noexcept { return full_.size(); }
  /// Whether a row is there.
  [[nodiscard]] bool full(std::size_t slot) const { return full_[slot]; }
  /// Whether its row must stay.
  [[nodiscard]] bool pinned(std::size_t slot) const { return pins_[slot]; }
  /// How often the policy has asked whether a slot is pinned.
  [[nodiscard]] std::uint64_t questions() const noexcept { return questions_; }

  /// Slots that are full and not pinned.
  [[nodiscard]] std::size_t loose() const noexcept { return loose_; }

  /// Its row must stay.
  void pin(std::size_t slot) {
    if (full_[slot] && !pins_[slot]) --loose_;
    pins_[slot] = true;
  }
  /// Any row may leave.
  void unpin_all() {
    std::fill(pins_.begin(), pins_.end(), false);
    loose_ = static_cast<std::size_t>(std::count(full_.begin(), full_.end(), true));
  }
  /// Its row is used.
  void hit(std::size_t slot, cache_access const& use) {
    slots_.on_hit(static_cast<way_id>(slot), use);
  }
  /// A row comes.
  void insert(std::size_t slot, cache_access const& use) {
    full_[slot] = true;
    if (!pins_[slot]) ++loose_;
    slots_.on_insert(static_cast<way_id>(slot), use);
  }
  /// Its row leaves.
  void evict(std::size_t slot) {
    full_[slot] = false;
    if (!pins_[slot]) --loose_;
    slots_.on_evict(static_cast<way_id>(slot));
  }
  /// What the policy would give up.
  [[nodiscard]] way_id victim(cache_access const& use) {
    return slots_.victim(use, [&](way_id way) {
      ++questions_;
      // Out of range is noted, not thrown: a policy's victim may be noexcept.
      strayed_ = strayed_ || way >= size();
      return way < size() && pins_[way];
    });
  }

  /// A victim of which the laws hold: a full slot that is not pinned, or `no_way` if there is none.
  [[nodiscard]] way_id lawful_victim(trial const& with, cache_access const& use) {
    auto const way = victim(use);
    with.require(!strayed_, "a policy asks only about slots of the cache");
    if (way == no_way) {
      with.require(loose_ == 0, "there is a victim unless every slot is pinned");
      return way;
    }
    with.require(way < size(), "a victim is a slot of the cache");
    with.require(full_[way], "a victim holds a row");
    with.require(!pins_[way], "a victim is not pinned");
    return way;
  }

 private:
  policy_slots<Policy> slots_;
  std::vector<bool> full_;
  std::vector<bool> pins_;
  std::size_t loose_ = 0;
  std::uint64_t questions_ = 0;
  bool strayed_ = false;
};

[[nodiscard]] inline cache_access some_access(trial& with, std::int64_t step) {
  return {.hash = with.bits(),
          .count = static_cast<std::uint32_t>(1 + with.skewed(9)),
          .step = step_id{step}};
}

/// One random thing that a cache may do to its policy; a victim, where it is asked for one.
template <cache_policy Policy>
way_id random_event(trial& with, watched_slots<Policy>& slots, std::int64_t step) {
  auto const use = some_access(with, step);
  auto const slot = with.skewed(slots.size());
  auto const kind = with.below(100);
  if (kind < 8) {
    slots.unpin_all();
  } else if (kind < 30) {
    slots.pin(slot);
  } else if (!slots.full(slot)) {
    slots.insert(slot, use);
  } else if (kind < 35) {
    slots.evict(slot);  // one that no victim call chose: a cache may drop a row
  } else if (kind < 70) {
    slots.hit(slot, use);
  } else if (auto const way = slots.lawful_victim(with, use); way != no_way) {
    slots.evict(way);
    if (with.chance(80)) slots.insert(way, use);
    return way;
  }
  return no_way;
}

/// Law: when nothing more is inserted, every slot that is not pinned is given up, and no other.
template <cache_policy Policy>
void check_drain(trial& with, watched_slots<Policy>& slots) {
  slots.unpin_all();
  for (std::size_t slot = 0; slot < slots.size(); ++slot) {
    if (with.chance(30)) slots.pin(slot);
  }
  for (auto loose = slots.loose(); loose > 0; --loose) {
    slots.evict(slots.lawful_victim(with, some_access(with, 0)));
  }
  with.require(slots.victim(some_access(with, 0)) == no_way, "every slot is evicted in the end");
}

/// Law: the misses of a plan cost O(misses + slots) questions, however many slots are pinned: five
/// a slot at most, which lets a policy walk its slots a few times.
template <cache_policy Policy>
void check_cost(trial& with, watched_slots<Policy>& slots) {
  for (std::size_t const percent : {0U, 50U, 90U, 99U, 100U, 50U}) {
    slots.unpin_all();
    for (std::size_t slot = 0; slot < slots.size(); ++slot) {
      if (!slots.full(slot)) slots.insert(slot, some_access(with, 0));
      if (with.chance(60)) slots.hit(slot, some_access(with, 0));
      if (with.chance(percent)) slots.pin(slot);
    }
    auto const misses = slots.loose();
    auto const before = slots.questions();
    for (std::size_t miss = 0; miss < misses; ++miss) {
      auto const way = slots.lawful_victim(with, some_access(with, 1));
      slots.evict(way);
      slots.insert(way, some_access(with, 1));
      slots.pin(way);
    }
    with.require(slots.lawful_victim(with, some_access(with, 1)) == no_way,
                 "there is no victim when a plan has taken all slots");
    auto const asked = slots.questions() - before;
    auto const most = 5 * (misses + slots.size());
    with.require(asked <= most,
                 "a plan costs O(misses + slots), however many slots are pinned: for " +
                     std::to_string(misses) + " misses in " + std::to_string(slots.size()) +
                     " slots it was asked " + std::to_string(asked) +
                     " times whether one is pinned, and may be " + std::to_string(most) +
                     " times; cache_policy.hpp says how");
  }
}

/// Laws of single victims under random traffic, and: the same accesses give the same victims.
template <cache_policy Policy>
void check_victims(Policy const& policy, std::size_t size, std::uint64_t seed) {
  auto const subject = "the cache policy with " + std::to_string(size) + " slots";
  trial first(subject, seed);
  trial second(subject, seed);
  watched_slots<Policy> slots(policy, size);
  watched_slots<Policy> twins(policy, size);
  auto const steps = static_cast<std::int64_t>(size < 100 ? 3000 : 6000);
  for (std::int64_t step = 0; step < steps; ++step) {
    auto const victim = random_event(first, slots, step);
    first.require(victim == random_event(second, twins, step),
                  "the same accesses give the same victims");
  }
  check_drain(first, slots);
  check_cost(first, slots);
}

/// Checks the laws of `cache_policy` in caches of many sizes; throws `error` with the one that is
/// broken, the size and the seed.
template <cache_policy Policy>
void check_cache_policy(Policy const& policy, std::uint64_t seed = 1) {
  for (auto const size : {1U, 2U, 3U, 7U, 64U, 1000U}) {
    check_victims(policy, size, seed);
  }
}

}  // namespace testing

}  // namespace inlay::inline INLAY_ABI
