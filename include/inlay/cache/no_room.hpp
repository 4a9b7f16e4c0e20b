#pragma once

#include <inlay/core/error.hpp>

#include <cstddef>
#include <string>

namespace inlay::inline INLAY_ABI {

/// The errors of a cache that has no room for the rows of a step, or for rows to keep.
struct no_room {
  std::size_t dim = 0;       ///< width of the rows
  std::size_t capacity = 0;  ///< slots in all
  std::size_t set_size = 0;  ///< slots of each set
  std::size_t kept = 0;      ///< slots whose rows are kept for good
  std::size_t steps = 0;     ///< in flight, whose rows stay

  /// For a step, in the cache.
  [[noreturn]] void operator()(std::size_t needed, std::size_t available) const {
    fail("a step needs " + std::to_string(needed) + " rows of width " + std::to_string(dim) +
         " in the cache at once, and it can have " + std::to_string(available) + " of " +
         std::to_string(capacity) + beside_others() + ": raise cache_rows or lower the batch" +
         or_fewer_steps());
  }

  /// For a step, in one of its sets.
  [[noreturn]] void operator()(std::size_t needed, std::size_t available, std::size_t set) const {
    fail("a step needs " + std::to_string(needed) + " ways of set " + std::to_string(set) +
         " for rows of width " + std::to_string(dim) + " at once, and it can have " +
         std::to_string(available) + " of " + std::to_string(set_size) + beside_others() +
         ": take more ways, another set_overflow or more cache_rows, or lower the batch" +
         or_fewer_steps());
  }

  /// For rows to be kept.
  [[noreturn]] void to_keep(std::size_t rows) const {
    fail("not all of " + std::to_string(rows) + " rows of width " + std::to_string(dim) +
         " find a slot to be kept in: the cache has " + std::to_string(capacity) + " in sets of " +
         std::to_string(set_size) + beside_others() + ": raise cache_rows or keep fewer");
  }

 private:
  [[nodiscard]] std::string beside_others() const {
    auto const in_flight = steps == 0 ? std::string()
                                      : " beside " + std::to_string(steps) +
                                            (steps == 1 ? " step" : " steps") + " in flight";
    return in_flight + (kept == 0 ? "" : ", for " + std::to_string(kept) + " rows of it are kept");
  }
  [[nodiscard]] std::string or_fewer_steps() const {
    return steps == 0 ? "" : ", or have fewer steps in flight (shape.prefetch, leases)";
  }
};

}  // namespace inlay::inline INLAY_ABI
