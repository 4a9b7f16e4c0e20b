#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/huge_pages.hpp>
#include <inlay/core/views.hpp>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <memory>
#include <new>
#include <type_traits>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// Host memory for a step's scratch, and for what is as large as a table: aligned to a cache line,
/// on huge pages where it fills one, never initialised, kept between steps.
///
/// A std::vector would write zeros that the next line overwrites; at millions of ids a step that is
/// as dear as the work itself. Contents are lost by `resize`; `grow` keeps them.
template <class T>
class buffer {
  static_assert(std::is_trivially_copyable_v<T>, "a buffer holds plain values only");

 public:
  static constexpr std::size_t alignment = 64;  ///< bytes: a cache line, and the widest vector load

  buffer() = default;
  /// Of unspecified values.
  explicit buffer(std::size_t size) { resize(size); }

  /// Takes the other's memory and leaves it empty.
  buffer(buffer&& other) noexcept
      : data_(std::move(other.data_)),
        size_(std::exchange(other.size_, 0)),
        capacity_(std::exchange(other.capacity_, 0)) {}
  /// Takes the other's memory and leaves it empty.
  buffer& operator=(buffer&& other) noexcept {
    data_ = std::move(other.data_);
    size_ = std::exchange(other.size_, 0);
    capacity_ = std::exchange(other.capacity_, 0);
    return *this;
  }

  /// Makes room for `size` elements of unspecified value. On failure the buffer is as before.
  void resize(std::size_t size) {
    if (size > capacity_) {
      auto const capacity = grown(size);
      data_ = allocate(capacity);
      capacity_ = capacity;
    }
    size_ = size;
  }

  /// Makes room for `size` elements and keeps those that were there. On failure all is as before.
  void grow(std::size_t size) {
    if (size > capacity_) {
      auto const capacity = grown(size);
      auto larger = allocate(capacity);
      std::copy_n(data_.get(), size_, larger.get());
      data_ = std::move(larger);
      capacity_ = capacity;
    }
    size_ = size;
  }

  /// Makes it `size` times `value`.
  void assign(std::size_t size, T value) {
    resize(size);
    std::fill_n(data_.get(), size, value);
  }

  /// One more value behind the last.
  void push_back(T value) {
    grow(size_ + 1);
    data_[size_ - 1] = value;
  }

  /// Forgets the values and keeps the memory.
  void clear() noexcept { size_ = 0; }

  /// The first value.
  [[nodiscard]] T* data() noexcept { return data_.get(); }
  /// The first value.
  [[nodiscard]] T const* data() const noexcept { return data_.get(); }
  /// How many values there are.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// True without a value.
  [[nodiscard]] bool empty() const noexcept { return size_ == 0; }
  /// Bytes that it holds, those of no value included.
  [[nodiscard]] std::size_t capacity_bytes() const noexcept { return capacity_ * sizeof(T); }

  /// A value; `at` is not checked.
  [[nodiscard]] T& operator[](std::size_t at) noexcept { return data_[at]; }
  /// A value; `at` is not checked.
  [[nodiscard]] T const& operator[](std::size_t at) const noexcept { return data_[at]; }
  [[nodiscard]] T* begin() noexcept { return data_.get(); }
  [[nodiscard]] T* end() noexcept { return data_.get() + size_; }
  [[nodiscard]] T const* begin() const noexcept { return data_.get(); }
  [[nodiscard]] T const* end() const noexcept { return data_.get() + size_; }

  /// All values.
  [[nodiscard]] span<T> view() noexcept { return {data_.get(), size_}; }
  /// All values.
  [[nodiscard]] span<T const> view() const noexcept { return {data_.get(), size_}; }

 private:
  struct release {
    std::size_t alignment = buffer::alignment;

    void operator()(T* memory) const noexcept {
      ::operator delete(static_cast<void*>(memory), std::align_val_t{alignment});
    }
  };
  using storage = std::unique_ptr<T[], release>;

  [[nodiscard]] std::size_t grown(std::size_t size) const {
    return std::max(size, capacity_ + capacity_ / 2);
  }

  [[nodiscard]] static storage allocate(std::size_t count) {
    // The largest object there may be; beyond it, operator new rounds up to the alignment and
    // wraps.
    if (count > std::numeric_limits<std::ptrdiff_t>::max() / sizeof(T)) {
      throw std::bad_alloc();
    }
    auto const bytes = count * sizeof(T);
    auto const aligned_to = bytes < huge_page ? alignment : huge_page;
    storage memory(static_cast<T*>(::operator new(bytes, std::align_val_t{aligned_to})),
                   release{aligned_to});
    if (aligned_to == huge_page) ask_for_huge_pages(memory.get(), bytes);
    return memory;
  }

  storage data_;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace inlay::inline INLAY_ABI
