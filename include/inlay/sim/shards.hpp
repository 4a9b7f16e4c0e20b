#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/hash.hpp>
#include <inlay/sim/access_trace.hpp>
#include <inlay/sim/cache_simulator.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// How much of a trace `shards` keeps.
struct shards_options {
  double rate = 0.1;       ///< share of the rows, above 0 and at most 1
  std::uint64_t seed = 1;  ///< of the hash that says which rows
};

/// Miss ratios of any policy from a sample of a trace: all requests of some rows, chosen by hash,
/// through a cache as much smaller as the sample is (SHARDS; Waldspurger et al., "Efficient MRC
/// construction with SHARDS", FAST 2015).
///
/// As in their SHARDS-adj, the sample is taken to have as many requests as it should: those that
/// popular rows bring too many, or too few by not being there, count as hits. On 200,000 requests
/// for 70,588 rows, rates of 0.1 and 0.3 were 0.006 and 0.004 off on average, 0.036 and 0.019 at
/// worst; on 134,000 for 7,075 rows 0.02 and 0.01, and 0.2 at worst.
///
/// A sample does not see the order of what lies closer than 1 / rate requests. A policy that gives
/// up a row before it is used again so soon looks far better than it is: SIEVE does, where every
/// row is used twice in quick succession and never again.
class shards {
 public:
  /// Takes the sample.
  explicit shards(access_trace const& trace, shards_options const& options = {})
      : rate_(options.rate), expected_(options.rate * static_cast<double>(trace.size())) {
    expects(rate_ > 0.0 && rate_ <= 1.0, "the rate of a sample must be above 0 and at most 1");
    constexpr auto all = double{std::uint64_t{1} << 53U};
    auto const below = static_cast<std::uint64_t>(std::ceil(rate_ * all));
    buffer<access_trace::key> keys(trace.size());
    std::size_t kept = 0;
    for (auto const row : trace.keys()) {
      keys[kept] = row;
      kept += (mix(options.seed, row.bits) >> 11U) < below ? 1U : 0U;
    }
    keys.resize(kept);
    expects(kept > 0 || trace.size() == 0, "no row is in the sample: raise its rate");
    sample_ = access_trace(std::move(keys));
  }

  /// The requests of the sample. Its batches are not known.
  [[nodiscard]] access_trace const& sample() const noexcept { return sample_; }

  /// The capacity that stands for `capacity` in a cache of the sample: at least one row, so an
  /// estimate for less than 1 / rate rows is of more than that.
  [[nodiscard]] std::size_t scaled(std::size_t capacity) const noexcept {
    constexpr auto most = std::size_t{1} << 52U;  // more than there are rows, and no rounding yet
    auto const rows = std::llround(rate_ * static_cast<double>(std::min(capacity, most)));
    return static_cast<std::size_t>(std::max(rows, 1LL));
  }

  /// The miss ratio of a trace whose sample misses so often.
  [[nodiscard]] double miss_ratio_of(std::uint64_t misses) const noexcept {
    if (expected_ <= 0.0) return 0.0;
    return std::min(1.0, static_cast<double>(misses) / expected_);
  }

  /// The miss ratio of a cache with so many rows, estimated.
  template <class Cache>
  [[nodiscard]] double miss_ratio(Cache const& cache, std::size_t capacity) const {
    expects(capacity > 0, "a cache needs at least one row");
    auto const seen = cache_simulator<Cache>{cache, scaled(capacity), 0}.replay(sample_);
    return miss_ratio_of(seen.misses);
  }

 private:
  double rate_;
  double expected_;  // requests of the sample
  access_trace sample_;
};

}  // namespace inlay::inline INLAY_ABI
