#pragma once

#include <inlay/batch/batch.hpp>
#include <inlay/core/ids.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace inlay::inline INLAY_ABI {

inline constexpr std::size_t criteo_integers = 13;    ///< I1 .. I13
inline constexpr std::size_t criteo_categories = 26;  ///< C1 .. C26

/// The id of a category that is missing; categories that are there have 32 bits.
inline constexpr raw_id missing_category = raw_id{1} << 32U;

/// Stands for an integer that is missing; no integer that is there has this value.
inline constexpr std::int32_t missing_integer = std::numeric_limits<std::int32_t>::min();

/// Dense feature of an integer: sign(x) * log(1 + |x|), and 0 where it is missing. Monotone, so
/// that the few negative integers of Criteo keep their order.
[[nodiscard]] inline float log_feature(std::int32_t integer) noexcept {
  if (integer == missing_integer) {
    return 0.0F;
  }
  return std::copysign(std::log1p(std::abs(static_cast<float>(integer))),
                       static_cast<float>(integer));
}

/// One line of the Criteo format in 160 bytes. A sample lies in one piece, so that gathering a
/// shuffled one touches three cache lines, and 45 million take 7.2 GB.
struct criteo_row {
  std::uint32_t flags = 0;  ///< bit f: C(f+1) is missing; top bit: clicked
  std::array<std::int32_t, criteo_integers> integers = {};       ///< or missing_integer
  std::array<std::uint32_t, criteo_categories> categories = {};  ///< meaningless where missing

  /// The flag of a click.
  static constexpr std::uint32_t clicked = 1U << 31U;

  /// One for a click, else zero.
  [[nodiscard]] constexpr float label() const noexcept {
    return (flags & clicked) != 0 ? 1.0F : 0.0F;
  }

  /// The id of a field; `missing_category` where there is none.
  [[nodiscard]] constexpr raw_id category(std::size_t field) const noexcept {
    return ((flags >> field) & 1U) != 0 ? missing_category : raw_id{categories[field]};
  }

  /// Marks a category as missing.
  constexpr void set_missing(std::size_t field) noexcept { flags |= 1U << field; }
};

namespace detail {

/// Writes a row into place `at` of a batch that was reset for one id a bag.
inline void put_criteo_row(criteo_row const& row, std::size_t at, batch& into) {
  auto const rows = into.shape().rows;
  auto const ids = into.ids();
  for (std::size_t field = 0; field < criteo_categories; ++field) {
    ids[field * rows + at] = row.category(field);
  }
  auto const dense = into.dense().row(at);
  for (std::size_t number = 0; number < criteo_integers; ++number) {
    dense[number] = log_feature(row.integers[number]);
  }
  into.labels()[at] = row.label();
}

}  // namespace detail

}  // namespace inlay::inline INLAY_ABI
