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
  /// data, none behind it.
  [[nodiscard]] constexpr sample_range grant(std::uint64_t cursor, std::uint64_t end,
                                             std::size_t batch) const noexcept {
    auto const left = end > cursor ? end - cursor : 0;
    return {cursor, cursor + std::min<std::uint64_t>(batch, left)};
  }
};

}  // namespace inlay::inline INLAY_ABI
