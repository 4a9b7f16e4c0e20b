#pragma once

#include <inlay/exchange/pooled_columns.hpp>

namespace inlay::inline INLAY_ABI {

/// Whole tables on one rank each, and the owner pools: bags go to the owners, pooled columns come
/// back, as in DLRM. What travels grows with the samples, however many share an id: the exchange to
/// take where bags hold many ids, and the one whose columns a codec compresses best.
/// `pooled_columns` does the work.
struct pooled_all_to_all {
  static constexpr char const* name = "pooled_all_to_all";

  /// What a step keeps.
  using state = pooled_columns;
};

}  // namespace inlay::inline INLAY_ABI
