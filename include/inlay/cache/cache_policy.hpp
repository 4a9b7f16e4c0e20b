#pragma once

#include <inlay/core/ids.hpp>
#include <inlay/core/views.hpp>

#include <concepts>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Number of a slot within its set (in a fully associative cache, of all slots).
using way_id = std::uint32_t;

/// No slot: the end of a list, or the answer of a policy when every slot is pinned.
inline constexpr way_id no_way = ~way_id{0};

/// What a policy learns of one use of a row. (Not plain `access`: POSIX has a function of that
/// name.)
struct cache_access {
  std::uint64_t hash = 0;             ///< of the row's key
  std::uint32_t count = 1;            ///< occurrences in the batch
  step_id step{};                     ///< of the batch; later plans have later ones
  std::int64_t next_use = INT64_MAX;  ///< step of the next use, if a window knows it
};

namespace detail {
struct nothing_pinned {
  INLAY_HD constexpr bool operator()(way_id) const noexcept { return false; }
};
}  // namespace detail

/// What a policy keeps: something for every slot, something for every set of slots.
template <class T>
concept policy_state = std::default_initializable<typename T::slot_state> &&
                       std::default_initializable<typename T::set_state>;

/// What a policy is told.
template <class T>
concept policy_events = requires(T const policy, span<typename T::slot_state> slots,
                                 typename T::set_state& set, way_id way, cache_access const& use) {
  policy.reset(slots, set);
  policy.on_insert(slots, set, way, use);
  policy.on_hit(slots, set, way, use);
  policy.on_evict(slots, set, way);
};

/// What a policy is asked: the slot to give up next, never a pinned one; `no_way` if all are
/// pinned.
template <class T>
concept policy_choice =
    requires(T const policy, span<typename T::slot_state> slots, typename T::set_state& set,
             cache_access const& incoming, detail::nothing_pinned const& pinned) {
      { policy.victim(slots, set, incoming, pinned) } -> std::same_as<way_id>;
    };

/// Decides which row leaves a full cache. A plain struct with const members; the cache that owns
/// the states calls it, the simulator and the device too. Laws: testing/cache_policy_laws.hpp.
///
/// The rows of a plan are pinned while its misses are placed, so `victim` must not walk over them
/// anew for every miss: it moves them away (`slot_list::oldest_loose`), remembers that a list has
/// only such (`pinned_list`), or keeps a hand where it stood (`sieve`). The same accesses give the
/// same victims: what chance a policy needs it takes from `cache_access::hash`.
///
/// Two members more are optional. `prepare_hit(span<slot_state const>, way_id)` is called a few
/// hits before `on_hit` and asks for the memory that `on_hit` will touch beside the slot's own
/// state (`prefetch_line`), such as neighbours in a list. `check()` throws if a knob has no
/// meaning; a cache calls it first.
template <class T>
concept cache_policy = policy_state<T> && policy_events<T> && policy_choice<T>;

}  // namespace inlay::inline INLAY_ABI
