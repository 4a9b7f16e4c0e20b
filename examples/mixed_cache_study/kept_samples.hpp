#pragma once

#include <inlay/batch/batch.hpp>
#include <inlay/batch/batch_view.hpp>
#include <inlay/batch/synthetic.hpp>
#include <inlay/core/error.hpp>

#include <cstdint>
#include <map>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

/// Samples that are read before the clock runs, and then by all ranks, training after training.
class kept_samples {
 public:
  explicit kept_samples(inlay::synthetic const& source) : source_(source) {}

  /// Reads these samples, unless they are here. Any thread may call it, while none calls `at`.
  void prepare(inlay::sample_range range) {
    std::lock_guard const lock(mutex_);
    auto const [place, is_new] = kept_.try_emplace({range.first, range.last});
    if (!is_new) return;
    std::vector<std::uint64_t> samples(range.size());
    std::iota(samples.begin(), samples.end(), range.first);
    source_.read({samples.data(), samples.size()}, place->second);
  }

  /// Samples that are prepared.
  [[nodiscard]] inlay::batch_view at(inlay::sample_range range) const {
    return kept_.at({range.first, range.last}).view();
  }

 private:
  inlay::synthetic const& source_;
  std::mutex mutex_;
  std::map<std::pair<std::uint64_t, std::uint64_t>, inlay::batch> kept_;
};

/// The first of them, as a stream of one rank.
class first_samples {
 public:
  first_samples(kept_samples const& kept, std::uint64_t count) : kept_(kept), count_(count) {}

  [[nodiscard]] std::uint64_t size() const { return count_; }
  [[nodiscard]] inlay::batch_view read(inlay::sample_range range) const { return kept_.at(range); }

 private:
  kept_samples const& kept_;
  std::uint64_t count_;
};
