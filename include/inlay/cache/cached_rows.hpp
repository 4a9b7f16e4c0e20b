#pragma once

#include <inlay/cache/organisation.hpp>
#include <inlay/cache/policy_slots.hpp>
#include <inlay/cache/row_plane.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/vsid/key_index.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// The mixed cache (ScaleFreeCTR): any row in any slot, one index for weights and state.
///
/// The cached copy is the authority from the fetch to the write-back, which happens at eviction or
/// `flush`. A step is planned in two passes: first all its hits are told to the policy and pinned,
/// then its misses are placed in order of first appearance; so no miss can evict what the step
/// still needs.
template <class Cache, row_store Store>
class cached_rows {
 public:
  using key = typename Store::key;

  /// An empty cache of `capacity` rows before a store.
  cached_rows(Cache const& cache, std::size_t capacity, Store store)
      : store_(std::move(store)), slots_(make_policy_slots(cache, checked(capacity))) {
    auto const layout = store_.layout();
    weights_ = row_plane(layout.dim, capacity);
    state_ = row_plane(layout.state, capacity);
    owners_.assign(capacity, {});
    index_.reserve(capacity);
  }

  /// What lies behind the cache. Rows in the cache may be newer there.
  [[nodiscard]] Store const& store() const noexcept { return store_; }
  /// Rows that fit.
  [[nodiscard]] std::size_t capacity() const noexcept { return owners_.size(); }

  /// Memory held by table and cache together.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return store_.bytes() + index_.bytes() + owners_.capacity_bytes() + weights_.bytes() +
           state_.bytes();
  }

  /// Throws if so many rows could not be here at once, whatever else is.
  void expect_room(std::size_t rows) const {
    if (rows > capacity()) refuse(rows, capacity());
  }

  /// Plans a step, writes its victims back, fetches its misses, pins its rows. `keys` are distinct.
  /// A step with more rows than slots that are not pinned is an error, and nothing has changed
  /// then.
  row_traffic bring(host_exec const& exec, span<key const> keys, span<std::uint32_t const> counts,
                    step_id step, row_refs& refs) {
    expects(counts.size() == keys.size(), "there must be one count for each key");
    row_traffic traffic{.unique = keys.size()};
    bool planning = false;
    try {
      find_hits(keys, refs);
      require_room(keys.size());
      traffic.created =
          store_.find_or_create(exec, std::as_const(missed_keys_).view(), homes_.view());
      planning = true;
      with_policy(slots_, [&](auto& policy) {
        mark_hits(policy, keys, counts, step, refs);
        place_misses(policy, counts, step, refs);
      });
    } catch (...) {
      if (planning) abandon(exec, refs);
      refs.slots.clear();  // so that to release them is harmless
      throw;
    }
    // Victims leave before anything is fetched: a slot is overwritten only after its row is safe.
    write_back(exec, std::as_const(victims_).view());
    fetch(exec, refs);
    refer(refs);
    traffic.misses = missed_.size();
    traffic.hits = keys.size() - missed_.size();
    traffic.evictions = traffic.write_backs = victims_.size();
    return traffic;
  }

  /// Lets go of a step's rows; they stay cached until a policy gives them up.
  void release(row_refs& refs) noexcept {
    for (auto const slot : refs.slots) {
      if (--owners_[slot].pins == 0) --pinned_;
    }
    refs.slots.clear();
  }

  /// Weights of `keys` as they are now, cached or not; nullptr where the row is unknown.
  void peek(span<key const> keys, span<float const*> weights) const {
    store_.find(keys, weights);
    index_.find_each(keys, [&](std::size_t i, std::uint32_t slot) {
      if (slot != absent) weights[i] = weights_.row(slot);
    });
  }

  /// Copies every cached row to the table; all stay cached. Returns how many that were.
  std::uint64_t flush(host_exec const& exec) {
    buffer<eviction> all;
    for (slot_id slot = 0; slot < used_; ++slot) {
      all.push_back({slot, owners_[slot].home});
    }
    write_back(exec, std::as_const(all).view());
    return all.size();
  }

 private:
  static constexpr std::uint32_t absent = key_index<key>::absent;
  static constexpr std::size_t rows_a_piece = 256;  // copies that a thread takes at a time

  struct owner {
    key row{};
    std::uint32_t pins = 0;  // steps in flight that use the slot
    float* home = nullptr;   // the row's address in the table: the way back needs no look-up
  };
  /// Whether a slot is pinned. Named, and fit for devices, as the policies that ask are: nvcc warns
  /// where they call a lambda.
  struct pinned_slots {
    owner const* owners;
    [[nodiscard]] INLAY_HD bool operator()(way_id way) const noexcept {
      return owners[way].pins != 0;
    }
  };
  struct eviction {
    slot_id slot;
    float* home;
  };
  [[nodiscard]] static std::size_t checked(std::size_t capacity) {
    expects(capacity > 0, "a cache needs at least one row");
    expects(capacity < no_way, "a cache holds at most 2^32 - 2 rows");
    return capacity;
  }

  /// refs.slots[u] becomes the slot of a hit; misses are listed in order of first appearance.
  void find_hits(span<key const> keys, row_refs& refs) {
    refs.slots.resize(keys.size());
    refs.resize(keys.size());
    shared_ = 0;
    missed_.clear();
    missed_keys_.clear();
    index_.find_each(keys, [&](std::size_t u, std::uint32_t slot) {
      refs.slots[u] = slot;
      if (slot != absent) {
        if (owners_[slot].pins != 0) ++shared_;
      } else {
        missed_.push_back(static_cast<std::uint32_t>(u));
        missed_keys_.push_back(keys[u]);
      }
    });
  }

  /// Throws unless the step's rows fit beside those pinned by steps in flight.
  void require_room(std::size_t rows) {
    // Nothing may fail for want of memory once the plan has begun.
    homes_.resize(missed_.size());
    victims_.resize(missed_.size());
    victims_.clear();
    auto const available = capacity() - pinned_ + shared_;
    if (rows > available) refuse(rows, available);
  }

  [[noreturn]] void refuse(std::size_t rows, std::size_t available) const {
    fail("a step needs " + std::to_string(rows) + " rows of width " +
         std::to_string(store_.layout().dim) + " in the cache at once, and it can have " +
         std::to_string(available) + " of " + std::to_string(capacity()) +
         ": raise cache_rows or lower the batch");
  }

  void pin(slot_id slot) noexcept {
    if (owners_[slot].pins++ == 0) ++pinned_;
  }

  template <class Slots>
  void mark_hits(Slots& policy, span<key const> keys, span<std::uint32_t const> counts,
                 step_id step, row_refs const& refs) {
    for (auto const slot : refs.slots) {
      if (slot != absent) pin(slot);
    }
    for (std::size_t u = 0; u < keys.size(); ++u) {
      if (auto const slot = refs.slots[u]; slot != absent) {
        policy.on_hit(slot, {.hash = hash(keys[u]), .count = counts[u], .step = step});
      }
    }
  }

  /// What is placed is noted before the policy is told: should the policy throw, `abandon` finds
  /// it.
  template <class Slots>
  void place_misses(Slots& policy, span<std::uint32_t const> counts, step_id step, row_refs& refs) {
    for (std::size_t m = 0; m < missed_.size(); ++m) {
      auto const row = missed_keys_[m];
      cache_access const use{.hash = hash(row), .count = counts[missed_[m]], .step = step};
      auto const slot = used_ < capacity() ? static_cast<slot_id>(used_++) : evict(policy, use);
      owners_[slot] = {row, 0, homes_[m]};
      index_.find_or_insert(row, slot);
      refs.slots[missed_[m]] = slot;
      pin(slot);
      policy.on_insert(slot, use);
    }
  }

  template <class Slots>
  slot_id evict(Slots& policy, cache_access const& incoming) {
    auto const slot = policy.victim(incoming, pinned_slots{owners_.data()});
    expects(slot < capacity() && owners_[slot].pins == 0,
            "the cache policy found no victim, or a pinned one, though slots are free to take");
    policy.on_evict(slot);
    index_.erase(owners_[slot].row);
    victims_.push_back({slot, owners_[slot].home});
    return slot;
  }

  /// Ends a plan that the policy could not finish: what was placed is fetched and stays, unpinned.
  void abandon(host_exec const& exec, row_refs& refs) {
    write_back(exec, std::as_const(victims_).view());
    while (!missed_.empty() && refs.slots[missed_[missed_.size() - 1]] == absent) {
      missed_.resize(missed_.size() - 1);
    }
    fetch(exec, refs);
    auto* const placed = std::remove(refs.slots.begin(), refs.slots.end(), absent);
    refs.slots.resize(static_cast<std::size_t>(placed - refs.slots.begin()));
    release(refs);
  }

  void write_back(host_exec const& exec, span<eviction const> rows) {
    exec.for_pieces(rows.size(), rows_a_piece, [&](std::size_t first, std::size_t last) {
      for (auto const& [slot, home] : rows.subspan(first, last - first)) {
        std::copy_n(weights_.row(slot), weights_.width(), home);
        std::copy_n(state_.row(slot), state_.width(), home + weights_.width());
      }
    });
  }

  void fetch(host_exec const& exec, row_refs const& refs) {
    exec.for_pieces(missed_.size(), rows_a_piece, [&](std::size_t first, std::size_t last) {
      for (auto m = first; m < last; ++m) {
        auto const slot = refs.slots[missed_[m]];
        std::copy_n(homes_[m], weights_.width(), weights_.row(slot));
        std::copy_n(homes_[m] + weights_.width(), state_.width(), state_.row(slot));
      }
    });
  }

  void refer(row_refs& refs) noexcept {
    for (std::size_t u = 0; u < refs.slots.size(); ++u) {
      refs.weights[u] = weights_.row(refs.slots[u]);
      refs.state[u] = state_.row(refs.slots[u]);
    }
  }

  Store store_;
  any_policy_slots<Cache> slots_;
  row_plane weights_;
  row_plane state_;
  buffer<owner> owners_;    // (capacity)
  key_index<key> index_;    // row → slot
  std::size_t used_ = 0;    // slots filled so far; none is ever emptied again
  std::size_t pinned_ = 0;  // slots that steps in flight use

  // Scratch of a plan.
  buffer<std::uint32_t> missed_;  // (misses), places within the step's keys
  buffer<key> missed_keys_;       // (misses)
  buffer<float*> homes_;          // (misses)
  buffer<eviction> victims_;
  std::size_t shared_ = 0;  // hits that steps in flight have pinned already
};

}  // namespace inlay::inline INLAY_ABI
