#pragma once

#include <inlay/core/error.hpp>
#include <inlay/table/initialiser.hpp>
#include <inlay/table/row_layout.hpp>
#include <inlay/vsid/keys.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// Makes the content of a row that nobody has touched yet. It depends on (seed, table, id) alone,
/// so that a row begins the same whoever meets it first, and an unknown id can be read without
/// creating it.
template <key_packing Keys, initialiser Init>
class new_row {
 public:
  using key = typename Keys::key;

  /// `scales`: one per table; `state`: what the optimizer's state of a row begins as.
  new_row(Init init, std::uint64_t seed, std::size_t dim, std::vector<float> scales,
          std::vector<float> state)
      : init_(std::move(init)),
        seed_(seed),
        dim_(dim),
        scales_(std::move(scales)),
        state_(std::move(state)) {
    expects(dim > 0, "a row needs at least one column");
  }

  /// What a row holds.
  [[nodiscard]] row_layout layout() const noexcept { return {dim_, state_.size()}; }

  /// Throws unless the key's table is one that has a scale.
  void require(key row) const {
    if (index(Keys::table(row)) >= scales_.size()) [[unlikely]] {
      fail("a key names table " + std::to_string(index(Keys::table(row))) +
           ", but there are only " + std::to_string(scales_.size()));
    }
  }

  /// Writes the first weights of `row`, whose table must have a scale. // weights (dim)
  void weights(key row, span<float> into) const noexcept {
    auto const table = index(Keys::table(row));
    init_.fill(random_stream{mix(mix(seed_, table), Keys::id(row))}, scales_[table], into);
  }

  /// Writes weights and, behind them, state. // row (dim + state)
  void whole(key row, float* into) const noexcept {
    weights(row, {into, dim_});
    std::copy(state_.begin(), state_.end(), into + dim_);
  }

 private:
  Init init_;
  std::uint64_t seed_;
  std::size_t dim_;
  std::vector<float> scales_;
  std::vector<float> state_;
};

}  // namespace inlay::inline INLAY_ABI
