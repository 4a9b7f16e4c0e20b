#pragma once

#include <inlay/table/initialiser.hpp>

#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// Weights normal with mean 0 and standard deviation `scale` (a sum of uniforms, see
/// `random_stream`).
struct normal {
  static constexpr char const* name = "normal";

  INLAY_HD constexpr void fill(random_stream random, float scale,
                               span<float> weights) const noexcept {
    for (std::size_t column = 0; column < weights.size(); ++column) {
      weights[column] = random.normal(column) * scale;
    }
  }
};

static_assert(initialiser<normal>);

}  // namespace inlay::inline INLAY_ABI
