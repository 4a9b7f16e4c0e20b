#pragma once

#include <inlay/batch/batch_view.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/core/views.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>

namespace inlay::inline INLAY_ABI {

/// How large a batch is, whatever its bags hold.
struct batch_shape {
  std::size_t rows = 0;         ///< samples
  std::size_t fields = 0;       ///< bags a row
  std::size_t dense_width = 0;  ///< dense features a row
};

/// Most ids, and most bags, of one batch: offsets and virtual ids have 32 bits.
inline constexpr std::size_t max_batch_ids = std::numeric_limits<std::uint32_t>::max();

namespace detail {

[[nodiscard]] inline std::size_t bags_of(std::size_t fields, std::size_t rows) {
  expects(fields > 0, "a batch needs at least one field");
  if (rows > max_batch_ids / fields) {
    fail("a batch of " + std::to_string(rows) + " rows and " + std::to_string(fields) +
         " fields has more than 2^32-1 bags");
  }
  return fields * rows;
}

}  // namespace detail

/// A batch that owns its memory and is filled again and again.
///
/// `reset` is for one id a bag (nothing but the values is written then), `reset_bags` with
/// `add_bag` for multi-hot. Values are unspecified until they are written; views live until the
/// next reset.
class batch {
 public:
  /// One id in each bag: the values are written through `ids`, `dense` and `labels`.
  void reset(batch_shape const& shape) {
    auto const bags = resize_rows(shape);
    one_id_each_ = true;
    ids_.resize(bags);
    // Offset i is i whatever the shape, so that offsets once written serve every later batch.
    for (auto at = ladder_.size(); at < bags + 1; ++at) {
      ladder_.push_back(static_cast<std::uint32_t>(at));
    }
  }

  /// No bag yet: all fields * rows of them are to come by `add_bag`.
  void reset_bags(batch_shape const& shape) {
    resize_rows(shape);
    one_id_each_ = false;
    ids_.clear();
    offsets_.assign(1, 0);
  }

  /// The next bag in field-major order (all rows of field 0 first); every id counts one.
  void add_bag(span<raw_id const> ids) {
    auto const known = append(ids);
    if (!weights_.empty()) {
      weights_.grow(ids_.size());
      std::fill(weights_.begin() + known, weights_.end(), 1.0F);
    }
  }

  /// The next bag in field-major order, with a weight for each id.
  void add_bag(span<raw_id const> ids, span<float const> weights) {
    expects(ids.size() == weights.size(), "a bag needs as many weights as ids");
    auto const known = append(ids);
    auto const weighted = weights_.size();
    weights_.grow(ids_.size());
    std::fill(weights_.begin() + weighted, weights_.begin() + known, 1.0F);
    std::copy(weights.begin(), weights.end(), weights_.begin() + known);
  }

  /// As of the last reset.
  [[nodiscard]] batch_shape const& shape() const noexcept { return shape_; }
  /// Ids to write, field-major. // (fields * rows) after reset
  [[nodiscard]] span<raw_id> ids() noexcept { return ids_.view(); }
  /// Dense features to write. // (rows, dense_width)
  [[nodiscard]] matrix_view<float> dense() noexcept {
    return {dense_.data(), shape_.rows, shape_.dense_width};
  }
  /// Labels to write. // (rows)
  [[nodiscard]] span<float> labels() noexcept { return labels_.view(); }

  /// All of it, to be read.
  [[nodiscard]] batch_view view() const noexcept {
    return {.rows = shape_.rows,
            .fields = shape_.fields,
            .offsets = one_id_each_ ? ladder_.view().first(ids_.size() + 1) : offsets_.view(),
            .ids = ids_.view(),
            .weights = weights_.view(),
            .dense = {dense_.data(), shape_.rows, shape_.dense_width},
            .labels = labels_.view()};
  }

 private:
  std::size_t resize_rows(batch_shape const& shape) {
    auto const bags = detail::bags_of(shape.fields, shape.rows);
    shape_ = shape;
    weights_.clear();
    dense_.resize(shape.rows * shape.dense_width);
    labels_.resize(shape.rows);
    return bags;
  }

  /// Returns how many ids were there before.
  std::size_t append(span<raw_id const> ids) {
    auto const known = ids_.size();
    expects(!one_id_each_, "bags are added after reset_bags only");
    expects(offsets_.size() <= shape_.fields * shape_.rows,
            "a batch has fields * rows bags, no more");
    expects(ids.size() <= max_batch_ids - known, "a batch holds at most 2^32-1 ids");
    ids_.grow(known + ids.size());
    std::copy(ids.begin(), ids.end(), ids_.begin() + known);
    offsets_.push_back(static_cast<std::uint32_t>(ids_.size()));
    return known;
  }

  batch_shape shape_;
  bool one_id_each_ = false;
  buffer<std::uint32_t> ladder_;   // 0, 1, 2 ..: offsets of one id each; never shrinks
  buffer<std::uint32_t> offsets_;  // of multi-hot bags
  buffer<raw_id> ids_;
  buffer<float> weights_;  // as ids_, or empty
  buffer<float> dense_;
  buffer<float> labels_;
};

/// Throws a sentence when the parts of a view don't fit each other. Zero rows are legal, zero
/// fields are not. One pass over the offsets; values are not looked at.
inline void check(batch_view const& view) {
  auto const bags = detail::bags_of(view.fields, view.rows);
  if (view.ids.size() > max_batch_ids) {
    fail("a batch holds at most 2^32-1 ids, this one " + std::to_string(view.ids.size()));
  }
  if (view.offsets.size() != bags + 1) {
    fail("a batch of " + std::to_string(view.rows) + " rows and " + std::to_string(view.fields) +
         " fields needs " + std::to_string(bags + 1) + " offsets, not " +
         std::to_string(view.offsets.size()));
  }
  expects(view.offsets[0] == 0, "the first offset of a batch must be 0");
  for (std::size_t bag = 0; bag < bags; ++bag) {
    if (view.offsets[bag] > view.offsets[bag + 1]) {
      fail("offsets of a batch must ascend; bag " + std::to_string(bag) + " ends at " +
           std::to_string(view.offsets[bag + 1]) + ", before it begins at " +
           std::to_string(view.offsets[bag]));
    }
  }
  if (view.offsets[bags] != view.ids.size()) {
    fail("the last offset of a batch must be its number of ids, " +
         std::to_string(view.ids.size()) + ", not " + std::to_string(view.offsets[bags]));
  }
  expects(view.weights.empty() || view.weights.size() == view.ids.size(),
          "a batch needs a weight for each id, or none");
  expects(view.labels.empty() || view.labels.size() == view.rows,
          "a batch needs a label for each row, or none");
  expects(view.dense.cols == 0 || view.dense.rows == view.rows,
          "the dense features of a batch need as many rows as it has");
  expects(view.dense.size() == 0 || view.dense.data != nullptr,
          "the dense features of a batch point nowhere");
  expects(view.dense.rows < 2 || view.dense.stride >= view.dense.cols,
          "rows of dense features overlap: the stride is below the width");
}

}  // namespace inlay::inline INLAY_ABI
