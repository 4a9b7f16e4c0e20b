#pragma once

#include <inlay/batch/batch_source.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/permutation.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// Numbers of the samples to train on and of those kept back; every sample is in one of the two.
struct sample_split {
  std::vector<std::uint64_t> train;  ///< to learn from
  std::vector<std::uint64_t> test;   ///< held back
};

namespace detail {

[[nodiscard]] inline sample_split cut(std::vector<std::uint64_t> order, double train_share) {
  expects(train_share >= 0 && train_share <= 1,
          "the share of samples to train on must lie from 0 to 1");
  auto const train = static_cast<std::ptrdiff_t>(static_cast<double>(order.size()) * train_share);
  sample_split result;
  result.test.assign(order.begin() + train, order.end());
  order.resize(static_cast<std::size_t>(train));
  result.train = std::move(order);
  return result;
}

}  // namespace detail

/// Each sample trains or tests by chance of `seed`; both lists are in random order.
[[nodiscard]] inline sample_split split_by_chance(std::uint64_t samples, std::uint64_t seed,
                                                  double train_share = 0.8) {
  permutation const shuffled(samples, seed);
  std::vector<std::uint64_t> order;
  order.reserve(samples);
  for (std::uint64_t place = 0; place < samples; ++place) {
    order.push_back(shuffled(place));
  }
  return detail::cut(std::move(order), train_share);
}

/// The first samples train, the last ones test, each list in order of time: of timestamps where the
/// source knows them (ties by sample number), else of sample numbers.
template <sized_source Source>
[[nodiscard]] sample_split split_by_time(Source const& source, double train_share = 0.8) {
  std::vector<std::uint64_t> order(source.size());
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  if constexpr (timed_source<Source>) {
    // With the number as the tie-break no stable sort is needed, nor the second copy that it makes.
    std::sort(order.begin(), order.end(), [&](std::uint64_t left, std::uint64_t right) {
      return std::pair(source.timestamp(left), left) < std::pair(source.timestamp(right), right);
    });
  }
  return detail::cut(std::move(order), train_share);
}

}  // namespace inlay::inline INLAY_ABI
