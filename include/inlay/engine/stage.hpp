#pragma once

#include <inlay/core/config.hpp>

#include <array>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// What a step spends its time on.
enum class stage : std::size_t {
  load,     ///< waiting for the loader
  wait,     ///< until rows that are brought ahead are there
  map,      ///< ids to keys, de-duplication, the transposed plan
  bring,    ///< looking rows up, creating, caching and fetching them
  pool,     ///< rows to pooled bags
  network,  ///< the user's own work between begin and finish
  update,   ///< row gradients and optimizer
  dense     ///< gradients of attached parameters and optimizer
};

/// What reports and traces call the stages, in their order.
inline constexpr std::array stage_names{"load", "wait",    "map",    "bring",
                                        "pool", "network", "update", "dense"};

}  // namespace inlay::inline INLAY_ABI
