#pragma once

#include <inlay/bag/bag_list.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/prefetch.hpp>
#include <inlay/core/row_math.hpp>

#include <algorithm>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// Some bags, and the rows that they pool.
struct pooled_bags {
  bag_list const& bags;                ///< all of a batch
  span<virtual_id const> virtual_ids;  // (n), of the occurrences in the list
  span<float const* const> rows;       // (distinct), of virtual ids
  std::size_t dim;                     ///< of a row

  /// Pools the bags [first, last), each in the order of its ids: pooled[bag] = Σ factor · row, zero
  /// for an empty bag. // pooled (rows, stride)
  void pool(std::size_t first, std::size_t last, float* pooled) const {
    for (auto bag = first; bag < last; ++bag) {
      pool(bag, pooled + bags.bag_places[bag]);
    }
  }

 private:
  void pool(std::size_t bag, float* into) const {
    constexpr std::size_t near = 16;  // ids whose rows are on their way from memory
    constexpr std::size_t far = 48;   // ids for which it is looked up where their rows are
    auto const count = virtual_ids.size();
    auto const first = std::size_t{bags.offsets[bag]};
    auto const last = std::size_t{bags.offsets[bag + 1]};
    for (auto i = first; i < last; ++i) {
      if (i + far < count) prefetch_line(rows.data() + virtual_ids[i + far]);
      if (i + near < count) prefetch_lines(rows[virtual_ids[i + near]], dim * sizeof(float));
    }
    auto const row_of = [&](std::size_t i) { return rows[virtual_ids[first + i]]; };
    if (bags.factors.empty()) {
      sum_rows(into, dim, last - first, row_of);
    } else {
      sum_rows(into, dim, last - first, row_of,
               [&](std::size_t i) { return bags.factors[first + i]; });
    }
  }
};

/// Pools all bags of a list; each is summed by one thread. // pooled (rows, stride)
inline void pool_bags(host_exec const& exec, pooled_bags const& bags, float* pooled) {
  exec.for_pieces(bags.bags.size(), 1024,
                  [&](std::size_t first, std::size_t last) { bags.pool(first, last, pooled); });
}

}  // namespace inlay::inline INLAY_ABI
