#pragma once

#include <inlay/core/config.hpp>

#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// What a row of a table holds, in floats: its weights and, beside them, the optimizer's state.
struct row_layout {
  std::size_t dim = 0;    ///< weights
  std::size_t state = 0;  ///< floats of the optimizer

  /// Floats of weights and state together.
  [[nodiscard]] constexpr std::size_t floats() const noexcept { return dim + state; }
};

}  // namespace inlay::inline INLAY_ABI
