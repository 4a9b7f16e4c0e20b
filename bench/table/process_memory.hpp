#pragma once

#include <inlay/core/buffer.hpp>

#include <cstddef>
#include <fstream>
#include <string>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

/// What this process has of the machine's memory, in bytes; zero where Linux does not say.
struct process_memory {
  std::size_t resident = 0;  ///< pages that are there now
  std::size_t peak = 0;      ///< the most there were since `begin_peak`
};

inline process_memory memory_now() {
  process_memory now;
  std::ifstream status("/proc/self/status");
  std::string word;
  while (status >> word) {
    std::size_t kilobytes = 0;
    if (word == "VmHWM:" && status >> kilobytes) now.peak = kilobytes * 1024;
    if (word == "VmRSS:" && status >> kilobytes) now.resident = kilobytes * 1024;
  }
  return now;
}

/// Gives back what the heap has to spare, and begins a new peak where the system allows it.
inline process_memory begin_peak() {
#if defined(__GLIBC__)
  malloc_trim(0);
#endif
  std::ofstream("/proc/self/clear_refs") << 5;
  return memory_now();
}

/// Touches this much memory and gives it back. The host of a virtual machine finds memory for it
/// at the first touch, which takes several times as long as all that is to be measured; what the
/// machine has had before it has at once.
inline void have_had(std::size_t bytes) {
  constexpr std::size_t page = 4096;
  inlay::buffer<char> memory(bytes);
  for (std::size_t at = 0; at < bytes; at += page) {
    memory[at] = 1;
  }
}
