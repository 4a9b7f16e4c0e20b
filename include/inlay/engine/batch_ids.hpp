#pragma once

#include <inlay/batch/batch_view.hpp>
#include <inlay/core/buffer.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// The ids of a batch, kept for a thread that lists them later: all that rows depend on.
class batch_ids {
 public:
  /// Copies them.
  void assign(batch_view const& batch) {
    rows_ = batch.rows;
    fields_ = batch.fields;
    copy(batch.offsets, offsets_);
    copy(batch.ids, ids_);
    copy(batch.weights, weights_);
  }

  /// A batch without labels and dense features.
  [[nodiscard]] batch_view view() const noexcept {
    return {.rows = rows_,
            .fields = fields_,
            .offsets = offsets_.view(),
            .ids = ids_.view(),
            .weights = weights_.view(),
            .dense = {},
            .labels = {}};
  }

 private:
  template <class T>
  static void copy(span<T const> from, buffer<T>& into) {
    into.resize(from.size());
    std::copy(from.begin(), from.end(), into.begin());
  }

  std::size_t rows_ = 0;
  std::size_t fields_ = 0;
  buffer<std::uint32_t> offsets_;  // (fields * rows + 1)
  buffer<raw_id> ids_;             // (n)
  buffer<float> weights_;          // (n) or empty
};

}  // namespace inlay::inline INLAY_ABI
