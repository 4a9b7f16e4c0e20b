#pragma once

#include <inlay/core/config.hpp>

#include <cstddef>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace inlay::inline INLAY_ABI {

/// Size and alignment of a huge page, in bytes.
inline constexpr std::size_t huge_page = std::size_t{1} << 21U;

/// Asks the system to back new memory, whose contents do not matter yet, by huge pages. A random
/// read of a large table misses the translation cache as well as the data cache; this spares it the
/// former. An allocator may hand out what others have used and given back, on small pages: they are
/// let go first, as a page that is there stays what it is. Advice only: nothing depends on whether
/// it is taken, and elsewhere than on Linux nothing is asked.
inline void ask_for_huge_pages([[maybe_unused]] void* memory,
                               [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  static_cast<void>(::madvise(memory, bytes / huge_page * huge_page, MADV_DONTNEED));
  static_cast<void>(::madvise(memory, bytes, MADV_HUGEPAGE));
#endif
}

}  // namespace inlay::inline INLAY_ABI
