#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/ids.hpp>

#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// One kind of content of a cache's slots: all weights, or all optimizer state. Rows begin on 16
/// bytes.
class row_plane {
 public:
  /// Empty.
  row_plane() = default;
  /// Of `slots` rows of `width` floats each, of unspecified content.
  row_plane(std::size_t width, std::size_t slots)
      : width_(width), stride_((width + 3) / 4 * 4), cells_(stride_ * slots) {}

  /// The row of a slot. // (width)
  [[nodiscard]] float* row(slot_id slot) noexcept { return cells_.data() + slot * stride_; }
  /// The row of a slot. // (width)
  [[nodiscard]] float const* row(slot_id slot) const noexcept {
    return cells_.data() + slot * stride_;
  }
  /// Floats of a row.
  [[nodiscard]] std::size_t width() const noexcept { return width_; }
  /// Memory held.
  [[nodiscard]] std::size_t bytes() const noexcept { return cells_.capacity_bytes(); }

 private:
  std::size_t width_ = 0;
  std::size_t stride_ = 0;
  buffer<float> cells_;  // (slots, stride)
};

}  // namespace inlay::inline INLAY_ABI
