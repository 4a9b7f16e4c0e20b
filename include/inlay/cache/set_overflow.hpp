#pragma once

#include <inlay/core/config.hpp>

#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// What becomes of a row whose set has no way left that is not pinned, be it by the step itself or
/// by steps in flight.
enum class set_overflow : std::uint8_t {
  reject,      ///< the step is an error that names the set, and nothing has changed
  second_set,  ///< the row takes a way of another set; if that one has none either, as `reject`
  spill,       ///< the step uses the row where it lies in the table
};

}  // namespace inlay::inline INLAY_ABI
