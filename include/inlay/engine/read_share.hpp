#pragma once

#include <inlay/batch/batch_view.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/one_of.hpp>
#include <inlay/engine/progress.hpp>
#include <inlay/engine/ranks.hpp>
#include <inlay/engine/sample_stream.hpp>
#include <inlay/engine/shape.hpp>
#include <inlay/engine/stage.hpp>

#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Reads what this rank trains on of a global batch: chunks in a row as `Sums` cuts them, perhaps
/// none.
template <sample_stream Stream, class Comm, class Sums>
[[nodiscard]] batch_view read_share(Stream& stream, sample_range whole, ranks<Comm>& all,
                                    Sums const& cut, shape const& shape, progress& at) {
  static constexpr std::uint32_t no_ids = 0;
  auto const range = inlay::visit(cut, [&](auto const& sums) {
    return all.share_of(whole, sums.pads_chunks ? sums.rows_a_chunk(whole.size()) : 1);
  });
  batch_view batch;
  batch.fields = shape.field_tables.size();
  batch.offsets = {&no_ids, 1};
  if (range.empty()) return batch;
  {
    auto const timer = at.timed(stage::load);
    batch = stream.read(range);
  }
  expects(batch.rows == range.size(), "a stream must read as many samples as it is asked for");
  return batch;
}

}  // namespace inlay::inline INLAY_ABI
