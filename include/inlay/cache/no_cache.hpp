#pragma once

#include <inlay/core/config.hpp>

namespace inlay::inline INLAY_ABI {

/// No cache: rows are used where they lie. Right where table and arithmetic share one memory.
struct no_cache {
  static constexpr char const* name = "none";
};

}  // namespace inlay::inline INLAY_ABI
