#pragma once

#include <inlay/cache/policy_slots.hpp>
#include <inlay/core/hash.hpp>
#include <inlay/sim/access_trace.hpp>
#include <inlay/vsid/key_index.hpp>
#include <inlay/vsid/keys.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

/// A cache of keys alone, one access at a time: what a trace is.
template <inlay::cache_policy Policy>
class one_at_a_time {
 public:
  one_at_a_time(Policy policy, std::size_t capacity)
      : slots_(policy, capacity), owners_(capacity) {}

  /// Whether the key was there; it is afterwards.
  bool use(std::uint64_t key) {
    inlay::narrow::key const row{key};
    inlay::cache_access const use{.hash = hash(row)};
    if (auto const slot = index_.find(row); slot != index_.absent) {
      slots_.on_hit(slot, use);
      return true;
    }
    auto const slot = used_ < owners_.size() ? used_++ : evict(use);
    owners_[slot] = row;
    index_.find_or_insert(row, slot);
    slots_.on_insert(slot, use);
    return false;
  }

 private:
  inlay::way_id evict(inlay::cache_access const& use) {
    auto const slot = slots_.victim(use, inlay::detail::nothing_pinned{});
    slots_.on_evict(slot);
    index_.erase(owners_[slot]);
    return slot;
  }

  inlay::policy_slots<Policy> slots_;
  inlay::key_index<inlay::narrow::key> index_;
  std::vector<inlay::narrow::key> owners_;
  inlay::way_id used_ = 0;
};

/// Hits of a trace.
template <inlay::cache_policy Policy>
std::size_t hits_of(Policy policy, std::size_t capacity, inlay::access_trace const& trace) {
  one_at_a_time<Policy> cache(policy, capacity);
  std::size_t hits = 0;
  for (auto const key : trace.keys()) {
    hits += cache.use(key.bits) ? 1U : 0U;
  }
  return hits;
}
