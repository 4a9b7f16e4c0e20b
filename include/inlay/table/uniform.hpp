#pragma once

#include <inlay/table/initialiser.hpp>

#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// Weights uniform in [-scale, scale).
struct uniform {
  static constexpr char const* name = "uniform";

  INLAY_HD constexpr void fill(random_stream random, float scale,
                               span<float> weights) const noexcept {
    for (std::size_t column = 0; column < weights.size(); ++column) {
      weights[column] = (2.0F * random.uniform(column) - 1.0F) * scale;
    }
  }
};

static_assert(initialiser<uniform>);

}  // namespace inlay::inline INLAY_ABI
