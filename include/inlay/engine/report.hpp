#pragma once

#include <inlay/cache/row_refs.hpp>
#include <inlay/engine/stage.hpp>

#include <array>
#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// What an engine has done since it was made. Nothing is silent: whatever is dropped is counted.
struct report {
  std::int64_t steps = 0;            ///< finished
  std::uint64_t samples = 0;         ///< of finished steps
  std::uint64_t ids = 0;             ///< occurrences, before de-duplication
  row_traffic rows;                  ///< what bringing rows took
  std::uint64_t dropped_steps = 0;   ///< begun and never finished
  std::uint64_t dropped_leases = 0;  ///< prefetched and never begun
  std::uint64_t clipped_steps = 0;   ///< that `shape.dense_clip_norm` made smaller
  std::uint64_t sent_bytes = 0;      ///< that this rank has sent to others
  std::uint64_t forgotten_keys = 0;  ///< by `parts.admit`, for want of room
  std::size_t table_rows = 0;        ///< in all tables
  std::size_t bytes = 0;             ///< of tables and caches
  /// Seconds over all steps, by stage.
  std::array<double, stage_names.size()> stage_seconds{};

  /// Adds what opening the rows of a step took: ids, rows and seconds.
  void add_opened(report const& step) noexcept {
    ids += step.ids;
    rows += step.rows;
    for (std::size_t at = 0; at < stage_seconds.size(); ++at) {
      stage_seconds[at] += step.stage_seconds[at];
    }
  }

  /// Seconds spent in a stage, over all steps.
  [[nodiscard]] double seconds(stage at) const noexcept {
    return stage_seconds[static_cast<std::size_t>(at)];
  }
};

}  // namespace inlay::inline INLAY_ABI
