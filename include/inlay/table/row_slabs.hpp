#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/huge_pages.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// Memory that a table takes at a time, at most: a few huge pages, so that a slab, which holds a
/// power of two of rows and is half of that at worst, is made of such pages. Rows in small pages
/// cost more to translate than to read.
inline constexpr std::size_t usual_slab_bytes = 4 * huge_page;

/// Numbered rows of one size in slabs of memory. A row never moves, so its address is its name: a
/// cache keeps it for the way back, and growing copies nothing. The last slab is the only slack.
class row_slabs {
 public:
  /// Of rows of so many floats.
  explicit row_slabs(std::size_t row_floats, std::size_t slab_bytes)
      : row_floats_(row_floats), shift_(shift_of(slab_bytes / (row_floats * sizeof(float)))) {}

  /// How many rows were added.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Bytes of all slabs.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return (slabs_.size() << shift_) * row_floats_ * sizeof(float);
  }

  /// The address of a row. // (row floats)
  [[nodiscard]] float* row(std::uint32_t number) noexcept {
    return slabs_[number >> shift_].data() + (number & mask()) * row_floats_;
  }
  /// The address of a row. // (row floats)
  [[nodiscard]] float const* row(std::uint32_t number) const noexcept {
    return slabs_[number >> shift_].data() + (number & mask()) * row_floats_;
  }

  /// Adds a row of unspecified content and returns its number. On failure all is as before.
  std::uint32_t add() {
    if (size_ == slabs_.size() << shift_) {
      slabs_.emplace_back(row_floats_ << shift_);
    }
    return static_cast<std::uint32_t>(size_++);
  }

  /// Takes back the last rows, down to `size`; their memory stays for the next ones.
  void shrink(std::size_t size) noexcept { size_ = std::min(size, size_); }

 private:
  /// At least one row a slab, and no more than half of what 32 bits number.
  [[nodiscard]] static unsigned shift_of(std::size_t rows) noexcept {
    return std::min(31U,
                    static_cast<unsigned>(std::bit_width(std::max<std::size_t>(1, rows))) - 1U);
  }
  [[nodiscard]] std::uint32_t mask() const noexcept { return (std::uint32_t{1} << shift_) - 1; }

  std::size_t row_floats_;
  unsigned shift_;  // log2 of the rows in a slab
  std::size_t size_ = 0;
  std::vector<buffer<float>> slabs_;
};

}  // namespace inlay::inline INLAY_ABI
