#pragma once

#include <inlay/cache/cache_policy.hpp>

#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// What became of a row that was asked for.
enum class set_outcome : std::uint8_t {
  hit,       ///< it was there
  filled,    ///< it has taken a way that was empty
  replaced,  ///< it has taken the way of a victim
  refused,   ///< all ways are pinned: nothing has changed
};

/// One set of a set-associative cache, without the rows: which key is in which way, and what its
/// policy keeps. It needs nothing outside of itself, so one thread of a device serves a set as a
/// thread of the host does, and evicts the same victims in the same order.
template <cache_policy Policy, class Key, std::uint32_t Ways>
struct cache_set {
  static_assert(Ways > 0, "a set needs at least one way");

  Key keys[Ways];                           ///< those of the ways in use
  typename Policy::slot_state slots[Ways];  ///< of each way
  typename Policy::set_state state;         ///< of all
  way_id used;                              ///< ways that hold a row: the first ones

  /// Ways of a set.
  static constexpr std::uint32_t ways = Ways;

  /// All ways empty.
  INLAY_HD constexpr void reset(Policy const& policy) {
    used = 0;
    for (auto& slot : slots) {
      slot = {};
    }
    policy.reset(view(), state);
  }

  /// The way of a key; `no_way` if it is not here.
  [[nodiscard]] INLAY_HD constexpr way_id find(Key key) const noexcept {
    auto found = no_way;
    for (way_id way = 0; way < used; ++way) {  // to the end: where it is can't be foretold
      found = keys[way] == key ? way : found;
    }
    return found;
  }

  /// A row is used, and is here afterwards unless it is `refused`. Its way is in `way`, and whose
  /// that was in `victim`, if it was replaced.
  template <class Pinned>
  INLAY_HD constexpr set_outcome use(Policy const& policy, Key key, cache_access const& access,
                                     Pinned const& pinned, way_id& way, Key& victim) {
    way = find(key);
    if (way != no_way) {
      policy.on_hit(view(), state, way, access);
      return set_outcome::hit;
    }
    auto outcome = set_outcome::filled;
    if (used < Ways) {
      way = used++;
    } else {
      way = policy.victim(view(), state, access, pinned);
      if (way == no_way) return set_outcome::refused;
      policy.on_evict(view(), state, way);
      victim = keys[way];
      outcome = set_outcome::replaced;
    }
    keys[way] = key;
    policy.on_insert(view(), state, way, access);
    return outcome;
  }

 private:
  [[nodiscard]] INLAY_HD constexpr span<typename Policy::slot_state> view() noexcept {
    return {slots, Ways};
  }
};

/// Which of some sets a row belongs to, by its hash: by the half that ghosts and sketches don't
/// use.
[[nodiscard]] INLAY_HD constexpr std::size_t set_of(std::uint64_t hash, std::size_t sets) noexcept {
  return static_cast<std::size_t>((hash & 0xffff'ffffU) * sets >> 32U);
}

}  // namespace inlay::inline INLAY_ABI
