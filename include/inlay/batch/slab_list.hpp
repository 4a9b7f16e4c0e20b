#pragma once

#include <inlay/core/buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// A long list that only grows, in slabs: no element moves and no second copy exists while it
/// grows, so that a file of 7 GB needs 7 GB, not 17.
template <class T>
class slab_list {
 public:
  /// One more value; none of the others moves.
  void push_back(T const& value) {
    if (size_ % slab_size == 0) {
      slabs_.emplace_back(slab_size);
    }
    slabs_.back()[size_ % slab_size] = value;
    ++size_;
  }

  /// How many values there are.
  [[nodiscard]] std::uint64_t size() const noexcept { return size_; }
  /// A value; `at` is not checked.
  [[nodiscard]] T const& operator[](std::uint64_t at) const noexcept {
    return slabs_[at / slab_size][at % slab_size];
  }
  /// Bytes of all slabs.
  [[nodiscard]] std::size_t memory_bytes() const noexcept {
    return slabs_.size() * slab_size * sizeof(T);
  }

 private:
  static constexpr std::size_t slab_size = 1U << 16U;  // elements

  std::vector<buffer<T>> slabs_;
  std::uint64_t size_ = 0;
};

}  // namespace inlay::inline INLAY_ABI
