#pragma once

#include <inlay/bag/bag_list.hpp>
#include <inlay/core/host_exec.hpp>
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
  constexpr std::size_t ahead = 8;  // rows on their way from memory while one is added
  auto const count = virtual_ids.size();
  exec.for_pieces(bags.size(), 1024, [&](std::size_t first_bag, std::size_t last_bag) {
    for (auto bag = first_bag; bag < last_bag; ++bag) {
      auto* const into = pooled + bags.bag_places[bag];
      std::fill_n(into, dim, 0.0F);
      for (auto i = std::size_t{bags.offsets[bag]}; i < bags.offsets[bag + 1]; ++i) {
        if (i + ahead < count) __builtin_prefetch(rows[virtual_ids[i + ahead]]);
        auto const* const row = rows[virtual_ids[i]];
        if (bags.factors.empty()) {
          add(into, row, dim);
        } else {
          add(into, row, bags.factors[i], dim);
        }
      }
    }
  });
}

}  // namespace inlay::inline INLAY_ABI
