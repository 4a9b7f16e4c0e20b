#pragma once

#include <inlay/batch/batch_view.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Bulk-synchronous training: every step, all ranks together make one global batch, and one update.
struct bulk {
  static constexpr char const* name = "bulk";

  /// The samples of the global batch that begins at `cursor`: `batch` of them, fewer at the end of
  /// data.
  [[nodiscard]] constexpr sample_range grant(std::uint64_t cursor, std::uint64_t end,
                                             std::size_t batch) const noexcept {
    return {cursor, std::min<std::uint64_t>(cursor + batch, end)};
  }
};

}  // namespace inlay::inline INLAY_ABI
