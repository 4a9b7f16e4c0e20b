#pragma once

#include <inlay/vsid/id_plan.hpp>

#include <algorithm>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Numbers the distinct keys of a step by sorting: plain, slow, and the oracle of `hash_mapper`.
struct sort_mapper {
  static constexpr char const* name = "sort";

  template <class Key>
  struct scratch {
    buffer<std::uint32_t> order;   // occurrences, sorted by key and then by place
    buffer<std::uint32_t> firsts;  // the first occurrence of each distinct key
  };

  /// keys (n) → plan. `scratch` keeps memory between steps.
  template <class Key>
  void map(host_exec const&, span<Key const> keys, scratch<Key>& scratch,
           id_plan<Key>& plan) const {
    sort(keys, scratch);
    first_appearances(keys, scratch);
    plan.unique.resize(scratch.firsts.size());
    plan.counts.assign(scratch.firsts.size(), 0);
    for (std::size_t v = 0; v < plan.size(); ++v) {
      plan.unique[v] = keys[scratch.firsts[v]];
    }
    plan.virtual_ids.resize(keys.size());
    for (std::size_t at = 0; at < keys.size();) {
      auto const first = scratch.order[at];
      auto const v = static_cast<virtual_id>(
          std::lower_bound(scratch.firsts.begin(), scratch.firsts.end(), first) -
          scratch.firsts.begin());
      for (; at < keys.size() && keys[scratch.order[at]] == keys[first]; ++at) {
        plan.virtual_ids[scratch.order[at]] = v;
        ++plan.counts[v];
      }
    }
    transpose(plan);
  }

 private:
  template <class Key>
  static void sort(span<Key const> keys, scratch<Key>& scratch) {
    scratch.order.resize(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      scratch.order[i] = static_cast<std::uint32_t>(i);
    }
    std::sort(scratch.order.begin(), scratch.order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return keys[a] == keys[b] ? a < b : keys[a] < keys[b];
    });
  }

  template <class Key>
  static void first_appearances(span<Key const> keys, scratch<Key>& scratch) {
    scratch.firsts.clear();
    for (std::size_t at = 0; at < keys.size(); ++at) {
      if (at == 0 || !(keys[scratch.order[at]] == keys[scratch.order[at - 1]])) {
        scratch.firsts.push_back(scratch.order[at]);
      }
    }
    std::sort(scratch.firsts.begin(), scratch.firsts.end());
  }
};

static_assert(id_mapper<sort_mapper>);

}  // namespace inlay::inline INLAY_ABI
