#pragma once

#include <inlay/cache/cache_slots.hpp>
#include <inlay/cache/no_room.hpp>
#include <inlay/cache/organisation.hpp>
#include <inlay/cache/row_plane.hpp>
#include <inlay/cache/row_refs.hpp>
#include <inlay/cache/row_streams.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/prefetch.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// The mixed cache (ScaleFreeCTR): one index for weights and state; any row in any slot, or in any
/// of its set, as `Sets` says.
///
/// The cached copy is the authority from the fetch to the write-back, which happens at eviction or
/// `flush`. `cache_slots` decides which row is where; here are the rows.
template <class Cache, row_store Store, class Sets = one_set>
class cached_rows {
 public:
  using key = typename Store::key;

  /// An empty cache before a store; where there is one set, `sets` may be a number of rows.
  cached_rows(Cache const& cache, Sets sets, Store store)
      : store_(std::move(store)), slots_(cache, std::move(sets)) {
    auto const layout = store_.layout();
    weights_ = row_plane(layout.dim, capacity());
    state_ = row_plane(layout.state, capacity());
    homes_.assign(capacity(), nullptr);
  }

  /// What lies behind the cache. Rows in the cache may be newer there.
  [[nodiscard]] Store const& store() const noexcept { return store_; }
  /// Rows that fit.
  [[nodiscard]] std::size_t capacity() const noexcept { return slots_.capacity(); }
  /// Where rows may be, and how many are.
  [[nodiscard]] Sets const& sets() const noexcept { return slots_.sets(); }

  /// Memory held by table and cache together.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return store_.bytes() + slots_.bytes() + homes_.capacity_bytes() + weights_.bytes() +
           state_.bytes();
  }

  /// Throws if so many rows could not be here at once, whatever else is.
  void expect_room(std::size_t rows) const {
    if (rows <= capacity() || sets().always_fits()) return;
    auto refuse = no_room_here();
    refuse.steps = 0;  // it would not fit without them either
    refuse(rows, capacity());
  }

  /// Plans a step, writes its victims back, fetches its misses, pins its rows. `keys` are distinct.
  /// A step with more rows than slots that are not pinned is an error, and nothing has changed
  /// then; among many sets, with more in a set, unless they are to be used in the table.
  row_traffic bring(host_exec const& exec, span<key const> keys, span<std::uint32_t const> counts,
                    step_id step, row_refs& refs) {
    row_streams<host_stream> at_once(exec);
    return bring(exec, at_once, keys, counts, step, refs);
  }

  /// The same with rows that travel by streams; they are there when `via.arrived()` has happened,
  /// and `refs` must stay where it is until then.
  template <class Stream>
  row_traffic bring(host_exec const& exec, row_streams<Stream>& via, span<key const> keys,
                    span<std::uint32_t const> counts, step_id step, row_refs& refs) {
    expects(counts.size() == keys.size(), "there must be one count for each key");
    expects(refs.pins == slot_pins::none,
            "release the rows of a step before others take its place");
    refs.resize(keys.size());
    refs.slots.resize(keys.size());
    slots_.find(exec, keys, refs.slots.view(), no_room_here());
    refs.moves.resize(slots_.placed());
    homes_of_misses_.resize(slots_.missed().size());
    auto const created = store_.find_or_create(exec, slots_.missed_keys(), homes_of_misses_.view());
    try {
      refs.pins = slots_.place(exec, keys, counts, step, refs.slots.view());
    } catch (...) {
      via.drain();
      note_moves(exec, refs);  // the misses that the policy has placed are in the cache
      swap_rows(exec, refs.moves);
      throw;
    }
    note_moves(exec, refs);
    carry(exec, via, refs.moves);
    refer(exec, refs);
    auto const misses = slots_.missed().size();
    auto const evictions = slots_.placed() - slots_.fresh();
    return {.unique = keys.size(),
            .hits = keys.size() - misses,
            .misses = misses,
            .evictions = evictions,
            .write_backs = evictions,
            .created = created,
            .second_set = sets().second(),
            .spilled = misses - slots_.placed()};
  }

  /// Brings rows of distinct keys and keeps them for good: no policy is ever free to choose them,
  /// and steps have so many slots fewer for other rows. Nothing may be under way. If not all find
  /// a slot, it is an error, and nothing has changed.
  row_traffic keep(host_exec const& exec, span<key const> keys, step_id step) {
    expects(slots_.steps() == 0, "keep rows while no step has any");
    row_refs refs;
    refs.slots.resize(keys.size());
    auto const refuse = [&](auto...) { no_room_here().to_keep(keys.size()); };
    slots_.find(exec, keys, refs.slots.view(), refuse);
    if (slots_.placed() < slots_.missed().size()) refuse();
    buffer<std::uint32_t> once;
    once.assign(keys.size(), 1);
    auto const traffic = bring(exec, keys, std::as_const(once).view(), step, refs);
    slots_.keep(refs.pins, std::as_const(refs.slots).view());
    return traffic;
  }

  /// Lets go of a step's rows; they stay cached until a policy gives them up.
  void release(row_refs& refs) noexcept {
    if (refs.pins != slot_pins::none) slots_.release(refs.pins);
    refs.pins = slot_pins::none;
  }

  /// Weights of `keys` as they are now, cached or not; nullptr where the row is unknown.
  void peek(span<key const> keys, span<float const*> weights) const {
    store_.find(keys, weights);
    slots_.find_each(keys, [&](std::size_t i, std::uint32_t slot) {
      if (slot != absent) weights[i] = weights_.row(slot);
    });
  }

  /// Copies every cached row to the table; all stay cached. Returns how many that were.
  std::uint64_t flush(host_exec const& exec) {
    exec.for_pieces(sets().extent(), rows_a_piece, [&](std::size_t first, std::size_t last) {
      for (auto slot = first; slot < last; ++slot) {
        if (homes_[slot] != nullptr) write_back(static_cast<slot_id>(slot), homes_[slot]);
      }
    });
    return sets().used();
  }

 private:
  static constexpr slot_id absent = cache_slots<Cache, key, Sets>::absent;
  static constexpr std::size_t rows_a_piece = 256;  // copies that a thread takes at a time

  [[nodiscard]] no_room no_room_here() const {
    return {weights_.width(), capacity(), sets().set_size(), slots_.kept(), slots_.steps()};
  }

  /// Lists which row goes where, so that nothing depends on the next plan, and gives the slots
  /// their new homes.
  void note_moves(host_exec const& exec, row_refs& refs) {
    auto const missed = slots_.missed().first(slots_.placed());
    auto& moves = refs.moves;
    moves.resize(missed.size());
    exec.for_pieces(missed.size(), 16384, [&](std::size_t first, std::size_t last) {
      with_prefetch<32>(
          last - first,
          [&](std::size_t at) { prefetch_line(homes_.data() + refs.slots[missed[first + at]]); },
          [&](std::size_t at) {
            auto const m = first + at;
            auto const slot = refs.slots[missed[m]];
            moves.slots[m] = slot;
            moves.leaving[m] = homes_[slot];
            moves.coming[m] = homes_[slot] = homes_of_misses_[m];
          });
    });
  }

  /// Sends rows on their way. Where streams run at once, each leaves and comes in one pass.
  template <class Stream>
  void carry(host_exec const& exec, row_streams<Stream>& via, row_moves const& moves) {
    if constexpr (Stream::at_once) {
      swap_rows(exec, moves);
    } else {
      via.move(
          [this, exec, &moves] {
            each_move(exec, moves, [&](std::size_t m) {
              if (moves.leaving[m] != nullptr) write_back(moves.slots[m], moves.leaving[m]);
            });
          },
          [this, exec, &moves] {
            each_move(exec, moves, [&](std::size_t m) { fetch(moves.slots[m], moves.coming[m]); });
          });
    }
  }

  /// A victim leaves before its slot is overwritten, and no row of a plan comes from where one
  /// goes: its misses are in no slot.
  void swap_rows(host_exec const& exec, row_moves const& moves) {
    each_move(exec, moves, [&](std::size_t m) {
      if (moves.leaving[m] != nullptr) write_back(moves.slots[m], moves.leaving[m]);
      fetch(moves.slots[m], moves.coming[m]);
    });
  }

  template <class Body>
  void each_move(host_exec const& exec, row_moves const& moves, Body const& body) {
    exec.for_pieces(moves.slots.size(), rows_a_piece, [&](std::size_t first, std::size_t last) {
      with_prefetch<8>(
          last - first, [&](std::size_t at) { prepare_move(moves, first + at); },
          [&](std::size_t at) { body(first + at); });
    });
  }

  void prepare_move(row_moves const& moves, std::size_t m) const noexcept {
    auto const home = (weights_.width() + state_.width()) * sizeof(float);
    if (moves.leaving[m] != nullptr) prefetch_lines(moves.leaving[m], home);
    prefetch_lines(moves.coming[m], home);
    prefetch_lines(weights_.row(moves.slots[m]), weights_.width() * sizeof(float));
    prefetch_lines(state_.row(moves.slots[m]), state_.width() * sizeof(float));
  }

  void write_back(slot_id slot, float* home) noexcept {
    std::copy_n(weights_.row(slot), weights_.width(), home);
    std::copy_n(state_.row(slot), state_.width(), home + weights_.width());
  }

  void fetch(slot_id slot, float const* home) noexcept {
    std::copy_n(home, weights_.width(), weights_.row(slot));
    std::copy_n(home + weights_.width(), state_.width(), state_.row(slot));
  }

  void refer(host_exec const& exec, row_refs& refs) {
    exec.for_pieces(refs.slots.size(), 16384, [&](std::size_t first, std::size_t last) {
      for (auto u = first; u < last; ++u) {
        if (Sets::may_spill && refs.slots[u] == absent) continue;
        refs.weights[u] = weights_.row(refs.slots[u]);
        refs.state[u] = state_.row(refs.slots[u]);
      }
    });
    for (auto m = slots_.placed(); m < slots_.missed().size(); ++m) {
      auto const u = slots_.missed()[m];
      refs.weights[u] = homes_of_misses_[m];
      refs.state[u] = homes_of_misses_[m] + weights_.width();
    }
  }

  Store store_;
  cache_slots<Cache, key, Sets> slots_;
  row_plane weights_;
  row_plane state_;
  buffer<float*> homes_;            // (capacity), in the table: the way back needs no look-up
  buffer<float*> homes_of_misses_;  // (misses), scratch of a step
};

}  // namespace inlay::inline INLAY_ABI
