#pragma once

#include <inlay/batch/batch_view.hpp>
#include <inlay/core/views.hpp>

namespace inlay::inline INLAY_ABI {

/// A batch as evaluation sees it; valid until the engine's next `lookup`.
struct looked_up {
  matrix_view<float const> pooled;  // (rows, sum of the fields' dims)
  matrix_view<float const> dense;   // (rows, dense features)
  labels_view labels;               // (rows)
};

}  // namespace inlay::inline INLAY_ABI
