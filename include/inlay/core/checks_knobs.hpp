#pragma once

#include <inlay/core/config.hpp>

#include <concepts>

namespace inlay::inline INLAY_ABI {

/// Throws for knobs that make no sense.
template <class T>
concept checks_knobs = requires(T const part) {
  { part.check() } -> std::same_as<void>;
};

}  // namespace inlay::inline INLAY_ABI
