#pragma once

#include <inlay/core/config.hpp>

#include <exception>

namespace inlay::inline INLAY_ABI {

/// Calls body() and returns what it throws, or nothing: for ranks, which must meet before one of
/// them leaves.
template <class Body>
[[nodiscard]] std::exception_ptr failure_of(Body const& body) {
  try {
    body();
  } catch (...) {
    return std::current_exception();
  }
  return nullptr;
}

}  // namespace inlay::inline INLAY_ABI
