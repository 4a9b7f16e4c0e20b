#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/engine/key_log.hpp>
#include <inlay/sim/access_trace.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// What a training has asked for, step by step, as `read_key_log` reads it from the log's file:
/// `batch_simulator` replays it with the hits of the training.
[[nodiscard]] inline access_trace recorded(key_log const& seen) {
  buffer<access_trace::key> keys(seen.keys().size());
  std::copy(seen.keys().begin(), seen.keys().end(), keys.begin());
  buffer<std::uint32_t> ends(seen.batch_ends().size());
  std::copy(seen.batch_ends().begin(), seen.batch_ends().end(), ends.begin());
  return access_trace(std::move(keys), std::move(ends));
}

}  // namespace inlay::inline INLAY_ABI
