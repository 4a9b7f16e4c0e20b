#pragma once

#include <inlay/cache/row_refs.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// What a step spends its time on.
enum class stage : std::size_t {
  load,     ///< waiting for the loader
  map,      ///< ids to keys, de-duplication, the transposed plan
  bring,    ///< looking rows up, creating, caching and fetching them
  pool,     ///< rows to pooled bags
  network,  ///< the user's own work between begin and finish
  update,   ///< row gradients and optimizer
  dense     ///< gradients of attached parameters and optimizer
};

inline constexpr std::array stage_names{"load",    "map",    "bring", "pool",
                                        "network", "update", "dense"};

/// What an engine has done since it was made. Nothing is silent: whatever is dropped is counted.
struct report {
  std::int64_t steps = 0;
  std::uint64_t samples = 0;
  std::uint64_t ids = 0;  ///< occurrences, before de-duplication
  row_traffic rows;
  std::uint64_t dropped_steps = 0;  ///< begun and never finished
  std::size_t table_rows = 0;
  std::size_t bytes = 0;  ///< of tables and caches
  std::array<double, stage_names.size()> stage_seconds{};

  [[nodiscard]] double seconds(stage at) const noexcept {
    return stage_seconds[static_cast<std::size_t>(at)];
  }
};

namespace detail {

/// Adds the time until its end to a stage.
class stage_timer {
 public:
  stage_timer(report& figures, stage at) noexcept
      : seconds_(figures.stage_seconds[static_cast<std::size_t>(at)]) {}
  stage_timer(stage_timer const&) = delete;
  stage_timer& operator=(stage_timer const&) = delete;
  ~stage_timer() {
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - begun_).count();
  }

 private:
  double& seconds_;
  std::chrono::steady_clock::time_point begun_ = std::chrono::steady_clock::now();
};

}  // namespace detail

}  // namespace inlay::inline INLAY_ABI
