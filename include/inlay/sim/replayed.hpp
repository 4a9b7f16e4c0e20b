#pragma once

#include <inlay/core/config.hpp>

#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// What a cache did with a trace.
struct replayed {
  std::uint64_t requests = 0;   ///< of the trace
  std::uint64_t unique = 0;     ///< distinct rows of each batch; one by one, the requests
  std::uint64_t hits = 0;       ///< of the unique, in the cache already
  std::uint64_t misses = 0;     ///< of the unique, brought in
  std::uint64_t evictions = 0;  ///< rows that left to make room

  /// Hits of the unique; 0 without any.
  [[nodiscard]] constexpr double hit_rate() const noexcept {
    return unique == 0 ? 0.0 : static_cast<double>(hits) / static_cast<double>(unique);
  }
  /// Misses of the unique: what the table behind the cache must serve; 0 without any.
  [[nodiscard]] constexpr double miss_rate() const noexcept {
    return unique == 0 ? 0.0 : static_cast<double>(misses) / static_cast<double>(unique);
  }

  // Written out: nvcc hands a defaulted one to g++ as used but never defined.
  /// True if all counts are the same.
  [[nodiscard]] friend constexpr bool operator==(replayed const& left,
                                                 replayed const& right) noexcept {
    return left.requests == right.requests && left.unique == right.unique &&
           left.hits == right.hits && left.misses == right.misses &&
           left.evictions == right.evictions;
  }
};

}  // namespace inlay::inline INLAY_ABI
