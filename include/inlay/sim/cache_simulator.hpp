#pragma once

#include <inlay/cache/cache_policy.hpp>
#include <inlay/cache/policy_slots.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/core/prefetch.hpp>
#include <inlay/core/views.hpp>
#include <inlay/sim/access_trace.hpp>
#include <inlay/sim/replayed.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace inlay::inline INLAY_ABI {

namespace detail {

/// Nobody looks ahead.
struct nothing_ahead {
  [[nodiscard]] static constexpr std::int64_t next_use(std::size_t) noexcept {
    return access_trace::never;
  }
};

/// What a window as long as this knows of the next uses.
struct window_ahead {
  span<std::int64_t const> next;  // (requests)
  std::uint64_t length;

  [[nodiscard]] std::int64_t next_use(std::size_t at) const noexcept {
    auto const use = next[at];
    return static_cast<std::uint64_t>(use) - at <= length ? use : access_trace::never;
  }
};

/// A trace on its way through the slots of a policy.
template <class Slots>
class replay {
 public:
  replay(Slots& policy, std::size_t capacity, access_trace const& trace)
      : policy_(policy), trace_(trace), rows_(capacity) {
    slots_.assign(trace.distinct(), no_way);
  }

  /// All of it. The policy is told of one request after the other; what it will touch is asked for
  /// ahead, in two steps: the place that says where a row is, then the slot.
  template <class Ahead>
  [[nodiscard]] replayed run(Ahead const& ahead) {
    constexpr std::size_t far = 32;
    constexpr std::size_t near = 12;
    auto const numbers = trace_.numbers();
    with_prefetch<far>(
        trace_.size(), [&](std::size_t at) { prefetch_line(slots_.data() + numbers[at]); },
        [&](std::size_t at) {
          if (at + near < numbers.size()) {
            auto const soon = slots_[numbers[at + near]];
            if (soon != no_way) policy_.prefetch(soon);
          }
          use(numbers[at], {.hash = hash(trace_.keys()[at]),
                            .step = step_id{static_cast<std::int64_t>(at)},
                            .next_use = ahead.next_use(at)});
        });
    auto const requests = std::uint64_t{trace_.size()};
    return {.requests = requests,
            .unique = requests,
            .hits = requests - misses_,
            .misses = misses_,
            .evictions = misses_ - used_};
  }

 private:
  void use(virtual_id row, cache_access const& access) {
    if (auto const slot = slots_[row]; slot != no_way) {
      policy_.on_hit(slot, access);
      return;
    }
    ++misses_;
    auto const slot = used_ < rows_.size() ? used_++ : evict(access);
    rows_[slot] = row;
    slots_[row] = slot;
    policy_.on_insert(slot, access);
  }

  way_id evict(cache_access const& incoming) {
    auto const slot = policy_.victim(incoming, nothing_pinned{});
    expects(slot < rows_.size(), "the cache policy found no victim, though no slot is pinned");
    policy_.on_evict(slot);
    slots_[rows_[slot]] = no_way;
    return slot;
  }

  Slots& policy_;
  access_trace const& trace_;
  buffer<way_id> slots_;     // (distinct rows), or no_way
  buffer<virtual_id> rows_;  // (capacity), what is in each slot
  way_id used_ = 0;
  std::uint64_t misses_ = 0;
};

}  // namespace detail

/// A fully associative cache of keys without rows, for traces: the policy is the one that trains.
///
/// ```cpp
/// auto const seen = inlay::cache_simulator{.cache = inlay::sieve{}, .capacity =
/// 705}.replay(trace);
/// ```
///
/// Requests come one by one, whatever the batches of the trace; `batch_simulator` has batches.
template <class Cache>
struct cache_simulator {
  Cache cache{};             ///< a policy, or one of several
  std::size_t capacity = 0;  ///< rows; at least one
  /// How many requests ahead the next use of a row is known to the policy, its place in the trace
  /// as `next_use`; what comes later is not known, and with 0 nothing is.
  std::uint64_t window = 0;

  /// Sends all requests through an empty cache. The step of a request is its place in the trace.
  [[nodiscard]] replayed replay(access_trace const& trace) const {
    expects(capacity > 0, "a cache needs at least one row");
    // Of slots that no row would ever come to a policy need not know: nothing is evicted then.
    auto const slots = std::min(capacity, std::max<std::size_t>(trace.distinct(), 1));
    auto policy_slots = make_policy_slots(cache, slots);
    return with_policy(policy_slots, [&](auto& policy) {
      detail::replay through(policy, slots, trace);
      if (window == 0) return through.run(detail::nothing_ahead{});
      auto const next = trace.next_uses();
      return through.run(detail::window_ahead{next.view(), window});
    });
  }
};

}  // namespace inlay::inline INLAY_ABI
