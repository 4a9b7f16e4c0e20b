#pragma once

#include <inlay/bag/bag_list.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/prefetch.hpp>
#include <inlay/core/row_math.hpp>

#include <algorithm>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// Pools rows into bags: pooled[bag] = Σ factor · row, zero for an empty bag. Each bag is summed by
/// one thread in the order of its ids. `rows[v]` is the row of virtual id v. // pooled (rows,
/// stride)
inline void pool_bags(host_exec const& exec, bag_list const& bags,
                      span<virtual_id const> virtual_ids, span<float const* const> rows,
                      std::size_t dim, float* pooled) {
  constexpr std::size_t near = 16;  // ids whose rows are on their way from memory
  constexpr std::size_t far = 48;   // ids for which it is looked up where their rows are
  auto const count = virtual_ids.size();
  auto const pool = [&](std::size_t bag) {
    auto const first = std::size_t{bags.offsets[bag]};
    auto const last = std::size_t{bags.offsets[bag + 1]};
    for (auto i = first; i < last; ++i) {
      if (i + far < count) prefetch_line(rows.data() + virtual_ids[i + far]);
      if (i + near < count) prefetch_lines(rows[virtual_ids[i + near]], dim * sizeof(float));
    }
    auto* const into = pooled + bags.bag_places[bag];
    auto const row_of = [&](std::size_t i) { return rows[virtual_ids[first + i]]; };
    if (bags.factors.empty()) {
      sum_rows(into, dim, last - first, row_of);
    } else {
      sum_rows(into, dim, last - first, row_of,
               [&](std::size_t i) { return bags.factors[first + i]; });
    }
  };
  exec.for_pieces(bags.size(), 1024, [&](std::size_t first, std::size_t last) {
    for (auto bag = first; bag < last; ++bag) {
      pool(bag);
    }
  });
}

}  // namespace inlay::inline INLAY_ABI
