#pragma once

#include <inlay/cache/cache_policy.hpp>
#include <inlay/core/one_of.hpp>
#include <inlay/core/prefetch.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

namespace inlay::inline INLAY_ABI {

/// For `policy_slots`: all slots are ways of one set.
inline constexpr std::uint32_t all_ways = 0;

namespace detail {

/// What is pinned, asked by the ways of a set that begins at a slot.
template <class Pinned>
struct pinned_ways {
  Pinned const* pinned;
  way_id first;

  [[nodiscard]] INLAY_HD bool operator()(way_id way) const { return (*pinned)(first + way); }
};

}  // namespace detail

/// A policy with the states of some slots and of the sets that they make up, `Ways` slots each:
/// what a policy needs to be used at all. It is spoken to of slots and knows only ways.
template <cache_policy Policy, std::uint32_t Ways = all_ways>
class policy_slots {
 public:
  /// All slots empty; a multiple of `Ways`, unless they are one set.
  policy_slots(Policy policy, std::size_t slots)
      : policy_(std::move(policy)), slots_(std::make_unique<slot_state[]>(slots)), size_(slots) {
    if constexpr (requires { policy_.check(); }) policy_.check();
    if constexpr (Ways == all_ways) {
      policy_.reset(of_set(0), sets_[0]);
    } else {
      sets_ = std::make_unique<set_state[]>(slots / Ways);
      for (std::size_t set = 0; set < slots / Ways; ++set) {
        policy_.reset(of_set(set), sets_[set]);
      }
    }
  }

  /// A row has come into a slot.
  void on_insert(way_id slot, cache_access const& use) {
    policy_.on_insert(of_set(set(slot)), sets_[set(slot)], way(slot), use);
  }
  /// A slot's row is used again.
  void on_hit(way_id slot, cache_access const& use) {
    policy_.on_hit(of_set(set(slot)), sets_[set(slot)], way(slot), use);
  }
  /// A slot's row has left.
  void on_evict(way_id slot) { policy_.on_evict(of_set(set(slot)), sets_[set(slot)], way(slot)); }

  /// Asks for the state of a slot, and for that of its set.
  void prefetch(way_id slot) const noexcept {
    if constexpr (Ways != all_ways) prefetch_line(sets_.get() + set(slot));
    prefetch_line(slots_.get() + slot);
  }
  /// Asks for all that `victim` may touch in a set; nothing where there is one.
  void prefetch_set(std::size_t set) const noexcept {
    if constexpr (Ways != all_ways) {
      prefetch_line(sets_.get() + set);
      prefetch_lines(slots_.get() + set * Ways, Ways * sizeof(slot_state));
    }
  }
  /// Asks for what `on_hit` will touch beside a slot, if the policy says what that is; the slot's
  /// own state should be here.
  void prepare_hit(way_id slot) const noexcept {
    if constexpr (requires { policy_.prepare_hit(span<slot_state const>(), slot); }) {
      policy_.prepare_hit(span<slot_state const>(of_set(set(slot))), way(slot));
    }
  }

  /// The slot to give up next; `no_way` if all are pinned.
  template <class Pinned>
  [[nodiscard]] way_id victim(cache_access const& incoming, Pinned const& pinned)
    requires(Ways == all_ways)
  {
    return policy_.victim(of_set(0), sets_[0], incoming, pinned);
  }
  /// The slot of a set to give up next; `no_way` if all of them are pinned.
  template <class Pinned>
  [[nodiscard]] way_id victim(std::size_t set, cache_access const& incoming, Pinned const& pinned) {
    if constexpr (Ways == all_ways) {
      return victim(incoming, pinned);
    } else {
      auto const first = static_cast<way_id>(set * Ways);
      auto const found = policy_.victim(of_set(set), sets_[set], incoming,
                                        detail::pinned_ways<Pinned>{&pinned, first});
      return found < Ways ? first + found : no_way;  // nor must a faulty policy leave the set
    }
  }

 private:
  using slot_state = typename Policy::slot_state;
  using set_state = typename Policy::set_state;
  // The only set needs no memory to be looked for.
  using set_states =
      std::conditional_t<Ways == all_ways, std::array<set_state, 1>, std::unique_ptr<set_state[]>>;

  [[nodiscard]] static std::size_t set(way_id slot) noexcept {
    if constexpr (Ways == all_ways)
      return 0;
    else
      return slot / Ways;
  }
  [[nodiscard]] static way_id way(way_id slot) noexcept {
    if constexpr (Ways == all_ways)
      return slot;
    else
      return slot % Ways;
  }
  [[nodiscard]] span<slot_state> of_set(std::size_t set) const noexcept {
    if constexpr (Ways == all_ways)
      return {slots_.get(), size_};
    else
      return {slots_.get() + set * Ways, Ways};
  }

  Policy policy_;
  std::unique_ptr<slot_state[]> slots_;  // a vector would pack a state of one bool
  std::size_t size_;
  set_states sets_{};
};

namespace detail {

template <class Cache, std::uint32_t Ways>
struct policy_slots_of {
  using type = policy_slots<Cache, Ways>;
};
template <class... Policies, std::uint32_t Ways>
struct policy_slots_of<one_of<Policies...>, Ways> {
  using type = std::variant<policy_slots<Policies, Ways>...>;
};

}  // namespace detail

/// The states of a policy, or of the chosen one among several.
template <class Cache, std::uint32_t Ways = all_ways>
using any_policy_slots = typename detail::policy_slots_of<Cache, Ways>::type;

/// Empty slots of a policy, or of the chosen one among several.
template <std::uint32_t Ways = all_ways, class Cache>
[[nodiscard]] any_policy_slots<Cache, Ways> make_policy_slots(Cache const& cache,
                                                              std::size_t slots) {
  return inlay::visit(cache, [&]<class Policy>(Policy const& policy) {
    return any_policy_slots<Cache, Ways>(policy_slots<Policy, Ways>(policy, slots));
  });
}

/// Calls body(policy_slots of the policy in use): once per batch, so the loop inside knows its
/// type.
template <class Slots, class Body>
decltype(auto) with_policy(Slots& slots, Body&& body) {
  if constexpr (requires { std::variant_size<Slots>::value; }) {
    return std::visit(std::forward<Body>(body), slots);
  } else {
    return std::forward<Body>(body)(slots);
  }
}

}  // namespace inlay::inline INLAY_ABI
