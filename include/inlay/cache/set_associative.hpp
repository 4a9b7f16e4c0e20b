#pragma once

#include <inlay/cache/cached_rows.hpp>
#include <inlay/cache/set_overflow.hpp>
#include <inlay/cache/way_sets.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// Many sets of `Ways` slots, a row in the set that its hash says: the part that
/// `parts.organisation` names. The same rows meet in a set as in one of `cache_set`, which a thread
/// of a device serves by itself; on a host its plans take longer than those of one set. A set may
/// be full of rows in use while others are not, see `set_overflow`: the fewer ways, the sooner.
template <std::uint32_t Ways>
struct set_associative {
  static_assert(Ways > 0, "a set needs at least one way");
  static constexpr char const* name = "set_associative";

  set_overflow overflow = set_overflow::reject;  ///< of a set that is full of rows in use

  /// A cache before a store.
  template <class Cache, row_store Store>
  using rows = cached_rows<Cache, Store, way_sets<typename Store::key, Ways>>;

  /// Opens a cache of `capacity` rows, a multiple of `Ways`, before a store.
  template <class Cache, row_store Store>
  [[nodiscard]] rows<Cache, Store> open(Cache const& cache, std::size_t capacity,
                                        Store store) const {
    return rows<Cache, Store>(cache, {capacity, overflow}, std::move(store));
  }
};

}  // namespace inlay::inline INLAY_ABI
