#pragma once

#include <inlay/vsid/id_plan.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// The plans of several ranks as one: what mapping all their keys in a row would give.
template <class Key>
struct merged_plan {
  buffer<Key> unique;                      // (U), in order of first appearance over the parts
  buffer<std::uint32_t> counts;            // (U)
  std::vector<buffer<virtual_id>> places;  ///< places[part][v]: the merged number of the part's v
};

/// Merges plans in the order of their ranks, by mapping their distinct keys once more: every rank
/// de-duplicates its own ids first, which is most of the work, and side by side.
template <class Mapper, class Key>
void merge(host_exec const& exec, Mapper const& mapper, span<id_plan<Key> const> parts,
           typename Mapper::template workspace<Key>& work, merged_plan<Key>& merged) {
  buffer<Key> keys;
  for (auto const& part : parts) {
    auto const before = keys.size();
    keys.grow(before + part.size());
    std::copy(part.unique.begin(), part.unique.end(), keys.begin() + before);
  }
  id_plan<Key> whole;
  mapper.map(exec, std::as_const(keys).view(), work, whole);

  merged.counts.assign(whole.size(), 0);
  merged.places.resize(parts.size());
  std::size_t at = 0;
  for (std::size_t part = 0; part < parts.size(); ++part) {
    auto& places = merged.places[part];
    places.resize(parts[part].size());
    for (std::size_t v = 0; v < places.size(); ++v) {
      places[v] = whole.virtual_ids[at++];
      merged.counts[places[v]] += parts[part].counts[v];
    }
  }
  merged.unique = std::move(whole.unique);
}

}  // namespace inlay::inline INLAY_ABI
