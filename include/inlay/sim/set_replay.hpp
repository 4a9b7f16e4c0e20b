#pragma once

#include <inlay/cache/cache_set.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/core/views.hpp>
#include <inlay/vsid/keys.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// The requests of a trace, set by set: each set's in the order of the trace.
struct requests_by_set {
  buffer<narrow::key> keys;       // (requests)
  buffer<std::uint32_t> places;   // (requests), in the trace
  buffer<std::uint32_t> offsets;  // (sets + 1), of each set's first

  /// Deals requests out to the sets that their hashes say.
  requests_by_set(span<narrow::key const> trace, std::size_t sets)
      : keys(trace.size()), places(trace.size()) {
    expects(sets > 0, "a cache needs at least one set");
    offsets.assign(sets + 1, 0);
    for (auto const key : trace) {
      ++offsets[set_of(hash(key), sets)];
    }
    std::uint32_t end = 0;
    for (auto& offset : offsets) {
      end += std::exchange(offset, end);
    }
    buffer<std::uint32_t> next(sets);
    std::copy_n(offsets.begin(), sets, next.begin());
    for (std::size_t at = 0; at < trace.size(); ++at) {
      auto const to = next[set_of(hash(trace[at]), sets)]++;
      keys[to] = trace[at];
      places[to] = static_cast<std::uint32_t>(at);
    }
  }
};

/// Replays the requests of one set: what `host_exec` and `device_exec` call for every set, side by
/// side. The same functor, so the same victims in the same order.
template <cache_policy Policy, std::uint32_t Ways>
struct set_replay {
  /// What it replays on.
  using set_type = cache_set<Policy, narrow::key, Ways>;

  Policy policy;                      ///< of all sets
  span<set_type> sets;                // (sets)
  span<narrow::key const> keys;       // (requests), as in `requests_by_set`
  span<std::uint32_t const> places;   // (requests), the same
  span<std::uint32_t const> offsets;  // (sets + 1), the same
  span<set_outcome> outcomes;         // (requests), in the order of the trace
  span<narrow::key> victims;          // (requests), the same: where a row was replaced

  /// Empties a set and replays its requests.
  INLAY_HD void operator()(std::size_t number) const {
    auto& set = sets[number];
    set.reset(policy);
    for (auto at = offsets[number]; at < offsets[number + 1]; ++at) {
      auto const place = places[at];
      cache_access const access{.hash = hash(keys[at]), .step = step_id{place}};
      way_id way = no_way;
      outcomes[place] =
          set.use(policy, keys[at], access, detail::nothing_pinned{}, way, victims[place]);
    }
  }
};

}  // namespace inlay::inline INLAY_ABI
