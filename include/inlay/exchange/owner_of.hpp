#pragma once

#include <inlay/core/hash.hpp>

#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// The rank that owns the rows of keys with this hash, at most 2^32 ranks.
///
/// The hash is mixed once more: an owner's index and cache take a key's place from the same hash,
/// and if its upper bits chose the rank, all keys of a rank would lie in one part of them.
[[nodiscard]] INLAY_HD constexpr std::size_t owner_of(std::uint64_t hash,
                                                      std::size_t ranks) noexcept {
  return static_cast<std::size_t>(((mix(hash) >> 32U) * ranks) >> 32U);
}

}  // namespace inlay::inline INLAY_ABI
