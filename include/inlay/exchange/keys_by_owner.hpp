#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/views.hpp>
#include <inlay/exchange/owner_of.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// Some keys in the order of the ranks that own them.
struct keys_by_owner {
  buffer<std::uint32_t> owners;     // (keys)
  buffer<std::uint32_t> order;      // (keys), numbers of keys; ascending within an owner
  std::vector<std::size_t> counts;  // (ranks), keys of each owner

  /// Of these keys.
  template <class Key>
  void sort(span<Key const> keys, std::size_t ranks) {
    owners.resize(keys.size());
    order.resize(keys.size());
    counts.assign(ranks, 0);
    for (std::size_t k = 0; k < keys.size(); ++k) {
      owners[k] = static_cast<std::uint32_t>(owner_of(hash(keys[k]), ranks));
      ++counts[owners[k]];
    }
    std::vector<std::size_t> next(ranks);
    for (std::size_t rank = 1; rank < ranks; ++rank) {
      next[rank] = next[rank - 1] + counts[rank - 1];
    }
    for (std::size_t k = 0; k < keys.size(); ++k) {
      order[next[owners[k]]++] = static_cast<std::uint32_t>(k);
    }
  }

  /// Numbers of the keys that a rank owns.
  [[nodiscard]] span<std::uint32_t const> of(std::size_t rank) const noexcept {
    std::size_t first = 0;
    for (std::size_t before = 0; before < rank; ++before) {
      first += counts[before];
    }
    return order.view().subspan(first, counts[rank]);
  }
};

}  // namespace inlay::inline INLAY_ABI
