#pragma once

#include <inlay/cache/slot_pins.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/ids.hpp>

#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Rows that change places for a step: into each of some slots one comes, and what was there
/// leaves.
struct row_moves {
  buffer<slot_id> slots;   // (moves)
  buffer<float*> leaving;  // (moves), the home of the row that leaves; nullptr: the slot was empty
  buffer<float const*> coming;  // (moves), the home of the row that comes

  /// Room for so many.
  void resize(std::size_t count) {
    slots.resize(count);
    leaving.resize(count);
    coming.resize(count);
  }
};

/// Where the rows of a step are while it runs; what bags read and optimizers write.
struct row_refs {
  buffer<float*> weights;                    // (U), each (dim)
  buffer<float*> state;                      // (U), each (state)
  buffer<slot_id> slots;                     // (U) pinned slots or `no_way`; none without a cache
  slot_pins::set_id pins = slot_pins::none;  ///< by which the slots are let go
  row_moves moves;                           ///< that bring them there

  /// Room for so many rows.
  void resize(std::size_t count) {
    weights.resize(count);
    state.resize(count);
  }
};

/// What bringing the rows of a step took.
struct row_traffic {
  std::uint64_t unique = 0;       ///< distinct rows asked for
  std::uint64_t hits = 0;         ///< of them in the cache already
  std::uint64_t misses = 0;       ///< of them fetched from the table
  std::uint64_t evictions = 0;    ///< rows that left to make room
  std::uint64_t write_backs = 0;  ///< rows copied back to the table
  std::uint64_t refused = 0;      ///< distinct rows that are not admitted, see table/admission.hpp
  std::uint64_t created = 0;      ///< of the misses, rows nobody had touched before
  std::uint64_t second_set = 0;   ///< of the misses, rows that went to another set than their first
  std::uint64_t spilled = 0;      ///< of the misses, rows that got no slot: used in the table

  /// Adds up what several steps or groups took.
  row_traffic& operator+=(row_traffic const& more) noexcept {
    unique += more.unique;
    hits += more.hits;
    misses += more.misses;
    evictions += more.evictions;
    write_backs += more.write_backs;
    refused += more.refused;
    created += more.created;
    second_set += more.second_set;
    spilled += more.spilled;
    return *this;
  }
};

}  // namespace inlay::inline INLAY_ABI
