#pragma once

#include <inlay/cache/cache_policy.hpp>
#include <inlay/core/one_of.hpp>
#include <inlay/core/prefetch.hpp>

#include <cstddef>
#include <memory>
#include <utility>
#include <variant>

namespace inlay::inline INLAY_ABI {

/// A policy with the states of one set of slots: what a policy needs to be used at all.
template <cache_policy Policy>
class policy_slots {
 public:
  /// Of one set, all slots empty.
  policy_slots(Policy policy, std::size_t slots)
      : policy_(std::move(policy)), slots_(std::make_unique<slot_state[]>(slots)), size_(slots) {
    if constexpr (requires { policy_.check(); }) policy_.check();
    policy_.reset(view(), set_);
  }

  /// A row has come into a slot.
  void on_insert(way_id way, cache_access const& use) { policy_.on_insert(view(), set_, way, use); }
  /// A slot's row is used again.
  void on_hit(way_id way, cache_access const& use) { policy_.on_hit(view(), set_, way, use); }
  /// A slot's row has left.
  void on_evict(way_id way) { policy_.on_evict(view(), set_, way); }

  /// Asks for the state of a slot.
  void prefetch(way_id way) const noexcept { prefetch_line(slots_.get() + way); }
  /// Asks for what `on_hit` will touch beside a slot, if the policy says what that is; the slot's
  /// own state should be here.
  void prepare_hit(way_id way) const noexcept {
    if constexpr (requires { policy_.prepare_hit(span<slot_state const>(), way); }) {
      policy_.prepare_hit(span<slot_state const>(slots_.get(), size_), way);
    }
  }

  /// The slot to give up next; `no_way` if all are pinned.
  template <class Pinned>
  [[nodiscard]] way_id victim(cache_access const& incoming, Pinned const& pinned) {
    return policy_.victim(view(), set_, incoming, pinned);
  }

 private:
  using slot_state = typename Policy::slot_state;

  [[nodiscard]] span<slot_state> view() noexcept { return {slots_.get(), size_}; }

  Policy policy_;
  std::unique_ptr<slot_state[]> slots_;  // a vector would pack a state of one bool
  std::size_t size_;
  typename Policy::set_state set_{};
};

namespace detail {

template <class Cache>
struct policy_slots_of {
  using type = policy_slots<Cache>;
};
template <class... Policies>
struct policy_slots_of<one_of<Policies...>> {
  using type = std::variant<policy_slots<Policies>...>;
};

}  // namespace detail

/// The states of a policy, or of the chosen one among several.
template <class Cache>
using any_policy_slots = typename detail::policy_slots_of<Cache>::type;

/// Empty slots of a policy, or of the chosen one among several.
template <class Cache>
[[nodiscard]] any_policy_slots<Cache> make_policy_slots(Cache const& cache, std::size_t slots) {
  return inlay::visit(cache, [&](auto const& policy) -> any_policy_slots<Cache> {
    return policy_slots(policy, slots);
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
