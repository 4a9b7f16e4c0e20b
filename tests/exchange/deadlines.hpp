#pragma once

#include <inlay/exchange/communicator.hpp>

#include <chrono>

/// Long past what any test takes: who waits that long has been forgotten.
[[nodiscard]] inline inlay::deadline in_a_minute() {
  return std::chrono::steady_clock::now() + std::chrono::minutes(1);
}

/// For waits that are to fail.
[[nodiscard]] inline inlay::deadline soon() {
  return std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
}
