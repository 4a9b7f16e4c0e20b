#pragma once

#include <inlay/core/ids.hpp>
#include <inlay/core/views.hpp>

#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Samples [first, last) in the order in which training meets them.
struct sample_range {
  std::uint64_t first = 0;  ///< the first sample
  std::uint64_t last = 0;   ///< one behind the last

  /// How many samples there are.
  [[nodiscard]] constexpr std::uint64_t size() const noexcept { return last - first; }
  /// True if there is no sample.
  [[nodiscard]] constexpr bool empty() const noexcept { return first == last; }
};

/// Labels of some rows and how much each row counts (empty: one each; a padding row counts zero).
struct labels_view {
  span<float const> values;   // (rows)
  span<float const> weights;  ///< (rows) or empty
};

/// A batch of multi-hot samples that belongs to somebody else: the user's memory, or a loader's.
///
/// A bag is what one row holds in one field: any number of ids, none included. Bags are
/// field-major, so that a field's ids lie together: bag f * rows + r has the ids [offsets[bag],
/// offsets[bag + 1]).
struct batch_view {
  std::size_t rows = 0;               ///< samples
  std::size_t fields = 0;             ///< bags a row
  span<std::uint32_t const> offsets;  // (fields * rows + 1)
  span<raw_id const> ids;             // (offsets.back())
  span<float const> weights;          ///< as ids, or empty: every id counts one
  matrix_view<float const> dense;     // (rows, dense features)
  span<float const> labels;           // (rows), or empty in evaluation

  /// The number of a field's and row's bag: it holds the ids from offsets[bag] to offsets[bag + 1].
  [[nodiscard]] constexpr std::size_t bag(std::size_t field, std::size_t row) const noexcept {
    return field * rows + row;
  }
};

}  // namespace inlay::inline INLAY_ABI
