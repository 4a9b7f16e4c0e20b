#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/huge_pages.hpp>

#include <algorithm>
#include <cstddef>
#include <ctime>
#include <fstream>
#include <string>

#if defined(__GLIBC__)
#include <malloc.h>
#endif

inline double milliseconds(clockid_t clock) {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) * 1e-6;
}

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

/// Touches this much memory, gives it back, and returns the milliseconds of processor time that the
/// slowest huge page took. The host of a virtual machine looks for memory at the first touch, which
/// takes many times as long as clearing it; what the machine has had before is there more often.
inline double have_had(std::size_t bytes) {
  inlay::buffer<char> memory(bytes);
  double slowest = 0;
  for (std::size_t at = 0; at < bytes; at += inlay::huge_page) {
    auto const before = milliseconds(CLOCK_THREAD_CPUTIME_ID);
    memory[at] = 1;
    slowest = std::max(slowest, milliseconds(CLOCK_THREAD_CPUTIME_ID) - before);
  }
  return slowest;
}
