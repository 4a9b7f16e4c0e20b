#pragma once

#include <inlay/core/error.hpp>
#include <inlay/vsid/id_plan.hpp>

#include <algorithm>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Numbers the distinct keys of a step by sorting: plain, slow, and the oracle of `hash_mapper`.
struct sort_mapper {
  static constexpr char const* name = "sort";

  template <class Key>
  struct workspace {
    buffer<std::uint32_t> order;   ///< occurrences, sorted by key and then by place
    buffer<std::uint32_t> firsts;  ///< the first occurrence of each distinct key
  };

  /// keys (n) → plan. `work` keeps memory between steps.
  template <class Key>
  void map(host_exec const&, span<Key const> keys, workspace<Key>& work, id_plan<Key>& plan) const {
    expects(keys.size() < ~std::uint32_t{0}, "a step holds at most 2^32 - 2 ids");
    sort(keys, work);
    first_appearances(keys, work);
    plan.unique.resize(work.firsts.size());
    plan.counts.assign(work.firsts.size(), 0);
    for (std::size_t v = 0; v < plan.size(); ++v) {
      plan.unique[v] = keys[work.firsts[v]];
    }
    plan.virtual_ids.resize(keys.size());
    for (std::size_t at = 0; at < keys.size();) {
      auto const first = work.order[at];
      auto const v = static_cast<virtual_id>(
          std::lower_bound(work.firsts.begin(), work.firsts.end(), first) - work.firsts.begin());
      for (; at < keys.size() && keys[work.order[at]] == keys[first]; ++at) {
        plan.virtual_ids[work.order[at]] = v;
        ++plan.counts[v];
      }
    }
    transpose(plan);
  }

 private:
  template <class Key>
  static void sort(span<Key const> keys, workspace<Key>& work) {
    work.order.resize(keys.size());
    for (std::size_t i = 0; i < keys.size(); ++i) {
      work.order[i] = static_cast<std::uint32_t>(i);
    }
    std::sort(work.order.begin(), work.order.end(), [&](std::uint32_t a, std::uint32_t b) {
      return keys[a] == keys[b] ? a < b : keys[a] < keys[b];
    });
  }

  template <class Key>
  static void first_appearances(span<Key const> keys, workspace<Key>& work) {
    work.firsts.clear();
    for (std::size_t at = 0; at < keys.size(); ++at) {
      if (at == 0 || !(keys[work.order[at]] == keys[work.order[at - 1]])) {
        work.firsts.push_back(work.order[at]);
      }
    }
    std::sort(work.firsts.begin(), work.firsts.end());
  }
};

static_assert(id_mapper<sort_mapper>);

}  // namespace inlay::inline INLAY_ABI
