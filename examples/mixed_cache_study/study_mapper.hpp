#pragma once

#include <inlay/core/host_exec.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/core/views.hpp>
#include <inlay/vsid/hash_mapper.hpp>
#include <inlay/vsid/id_plan.hpp>

#include <cstddef>

/// What gets a virtual id, and so travels once.
enum class numbered_ids {
  distinct,         ///< as ScaleFreeCTR has it
  every_occurrence  ///< what there is to gain from it
};

/// The mapper of the library, or one without its idea: every occurrence of a key has a virtual id
/// of its own, so keys, rows and gradients travel once an occurrence. That breaks the laws of a
/// mapper, so it goes with exchanges whose owners de-duplicate: `owner_all_to_all`, and those in
/// occurrence_exchanges.hpp.
struct study_mapper {
  static constexpr char const* name = "study";
  template <class Key>
  using workspace = inlay::hash_mapper::workspace<Key>;

  numbered_ids numbers = numbered_ids::distinct;

  template <class Key>
  void map(inlay::host_exec const& exec, inlay::span<Key const> keys, workspace<Key>& work,
           inlay::id_plan<Key>& plan) const {
    if (numbers == numbered_ids::distinct) return inlay::hash_mapper{}.map(exec, keys, work, plan);
    plan.unique.resize(keys.size());
    plan.virtual_ids.resize(keys.size());
    plan.counts.assign(keys.size(), 1);
    for (std::size_t at = 0; at < keys.size(); ++at) {
      plan.unique[at] = keys[at];
      plan.virtual_ids[at] = static_cast<inlay::virtual_id>(at);
    }
    transpose(plan);
  }
};
static_assert(inlay::id_mapper<study_mapper>);
