#pragma once

#include <inlay/cache/cached_rows.hpp>

#include <cstddef>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// One set as large as the cache: the part that `parts.organisation` names.
struct fully_associative {
  static constexpr char const* name = "fully_associative";

  /// A cache before a store.
  template <class Cache, row_store Store>
  using rows = cached_rows<Cache, Store>;

  /// Opens a cache of `capacity` rows before a store.
  template <class Cache, row_store Store>
  [[nodiscard]] cached_rows<Cache, Store> open(Cache const& cache, std::size_t capacity,
                                               Store store) const {
    return cached_rows<Cache, Store>(cache, capacity, std::move(store));
  }
};

}  // namespace inlay::inline INLAY_ABI
