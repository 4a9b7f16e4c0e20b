#pragma once

#include <inlay/table/initialiser.hpp>

#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// Weights all zero: right for linear models, useless where factors multiply each other.
struct zeros {
  static constexpr char const* name = "zeros";

  INLAY_HD constexpr void fill(random_stream, float, span<float> weights) const noexcept {
    for (std::size_t column = 0; column < weights.size(); ++column) {
      weights[column] = 0.0F;
    }
  }
};

static_assert(initialiser<zeros>);

}  // namespace inlay::inline INLAY_ABI
