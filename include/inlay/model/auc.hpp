#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/views.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace inlay::inline INLAY_ABI {

namespace detail {

/// A score and its label in one word that sorts by score alone first: equal scores, equal upper
/// bits.
[[nodiscard]] inline std::uint64_t ranked(float score, float label, std::size_t row) {
  if (std::isnan(score)) [[unlikely]] {
    fail("score " + std::to_string(row) + " is NaN, which has no rank");
  }
  if (label != 0.0F && label != 1.0F) [[unlikely]] {
    fail("label " + std::to_string(row) + " is " + std::to_string(label) +
         ", but the area under the ROC curve needs 0 or 1");
  }
  auto const bits =
      std::bit_cast<std::uint32_t>(score + 0.0F);  // -0 + 0 is 0: a tie, as it should be
  constexpr auto sign = std::uint32_t{1} << 31U;
  auto const order = (bits & sign) != 0 ? ~bits : bits | sign;
  return (std::uint64_t{order} << 1U) | static_cast<std::uint64_t>(label);
}

}  // namespace detail

/// Area under the ROC curve: the chance that a positive row scores above a negative one, a tie
/// counting half. Exact, by sorting; counts are integers. Labels are 0 or 1. A NaN score is an
/// error, and so are labels of one class, for which no area exists.
[[nodiscard]] inline double auc(span<float const> scores, span<float const> labels) {
  expects(scores.size() == labels.size(), "there must be one label for each score");
  std::vector<std::uint64_t> ranks(scores.size());
  for (std::size_t row = 0; row < scores.size(); ++row) {
    ranks[row] = detail::ranked(scores[row], labels[row], row);
  }
  std::sort(ranks.begin(), ranks.end());

  std::uint64_t negatives = 0;  // with a lower score than the group at hand
  std::uint64_t positives = 0;
  std::uint64_t half_wins = 0;  // two for each pair in the right order, one for each tie
  for (std::size_t at = 0; at < ranks.size();) {
    std::uint64_t group_positives = 0;
    auto const first = at;
    for (; at < ranks.size() && ranks[at] >> 1U == ranks[first] >> 1U; ++at) {
      group_positives += ranks[at] & 1U;
    }
    auto const group_negatives = at - first - group_positives;
    half_wins += group_positives * (2 * negatives + group_negatives);
    negatives += group_negatives;
    positives += group_positives;
  }
  if (positives == 0 || negatives == 0) {
    fail("the area under the ROC curve needs rows of both classes, but there are " +
         std::to_string(positives) + " positive and " + std::to_string(negatives) + " negative");
  }
  return static_cast<double>(half_wins) /
         (2.0 * static_cast<double>(positives) * static_cast<double>(negatives));
}

}  // namespace inlay::inline INLAY_ABI
