#pragma once

// Replaces operator new in a test program by one that can be told to fail, to show that whoever
// runs out of memory leaves all as it was. Include it in one file of a program.

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace failing_new {

/// Allocations until the one that fails; none does while it is negative.
inline std::atomic<long> countdown{-1};

/// Bytes beyond which an allocation always fails.
inline std::atomic<std::size_t> most_bytes{~std::size_t{0}};

/// Largest request so far since `most_bytes` was set.
inline std::atomic<std::size_t> largest{0};

inline void* allocate(std::size_t bytes, std::size_t alignment) {
  if (bytes > largest) largest = bytes;
  bool const now = countdown >= 0 && countdown.fetch_sub(1) == 0;
  auto const rounded = (bytes / alignment + 1) * alignment;
  if (now || bytes > most_bytes || rounded < bytes) throw std::bad_alloc();
  if (auto* const memory = std::aligned_alloc(alignment, rounded)) return memory;
  throw std::bad_alloc();
}

// Not inlined, or g++ 12 takes free for the wrong partner of operator new.
[[gnu::noinline]] inline void release(void* memory) noexcept { std::free(memory); }

/// Whether action() ran out of memory when its allocation number n, from 0, fails.
template <class Action>
bool fails(long n, Action const& action) {
  countdown = n;
  try {
    action();
  } catch (std::bad_alloc const&) {
    countdown = -1;
    return true;
  }
  countdown = -1;
  return false;
}

}  // namespace failing_new

// NOLINTBEGIN: the forms that the language lets a program replace.
inline constexpr std::size_t usual_alignment = __STDCPP_DEFAULT_NEW_ALIGNMENT__;
void* operator new(std::size_t bytes) { return failing_new::allocate(bytes, usual_alignment); }
void* operator new[](std::size_t bytes) { return failing_new::allocate(bytes, usual_alignment); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return failing_new::allocate(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return failing_new::allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { failing_new::release(memory); }
void operator delete[](void* memory) noexcept { failing_new::release(memory); }
void operator delete(void* memory, std::size_t) noexcept { failing_new::release(memory); }
void operator delete[](void* memory, std::size_t) noexcept { failing_new::release(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { failing_new::release(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { failing_new::release(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept {
  failing_new::release(memory);
}
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept {
  failing_new::release(memory);
}
// NOLINTEND
