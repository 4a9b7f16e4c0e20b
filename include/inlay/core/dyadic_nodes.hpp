#pragma once

#include <inlay/core/buffer.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// The nodes of the tree over all chunk numbers that chunks [first, last) are made of, as few as
/// there can be, each by its first chunk: {3} and {4..7} are those of [3, 8).
///
/// Every such node is one in every `tree_sum`, so its sum may be made elsewhere and given to
/// `open(its first chunk)`: the total has the same bits as with the chunks one by one.
inline void dyadic_nodes(std::uint32_t first, std::uint32_t last, buffer<std::uint32_t>& nodes) {
  nodes.clear();
  while (first < last) {
    nodes.push_back(first);
    auto const fits = std::bit_floor(last - first);
    auto const aligned = first & (~first + 1);  // the largest power that divides it; 0 of 0
    first += aligned == 0 ? fits : std::min(fits, aligned);
  }
}

}  // namespace inlay::inline INLAY_ABI
