#pragma once

#include <inlay/core/views.hpp>

#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// In what order the ranks' shares of a row's gradient are added.
enum class sum_order : std::uint8_t {
  along_tree,  ///< of chunk numbers: the same bits for any number of ranks, see `tree_sum`
  by_rank      ///< one share a rank, from rank 0 up: fewer bytes
};

/// A rank's shares of the gradients of its distinct keys, in the order of its plan.
///
/// Along the tree, a key has one share for each of the rank's `dyadic_nodes` where it occurs, in
/// their order. By rank it has exactly one, and `ends` and `chunks` may be empty. All ranks must
/// use the same order.
struct gradient_partials {
  span<std::uint32_t const> ends;           // (distinct), one behind the last share of each key
  span<std::uint32_t const> chunks;         // (shares), first chunk of the node
  float const* values = nullptr;            // (shares, dim)
  sum_order order = sum_order::along_tree;  ///< in which shares are added
};

}  // namespace inlay::inline INLAY_ABI
