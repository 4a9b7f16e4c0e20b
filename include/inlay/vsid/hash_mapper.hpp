#pragma once

#include <inlay/core/error.hpp>
#include <inlay/vsid/id_plan.hpp>
#include <inlay/vsid/key_index.hpp>
#include <inlay/vsid/number_keys.hpp>
#include <inlay/vsid/shared_numbering.hpp>

#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Numbers the distinct keys of a step by a hash table. The mapper to take; `sort_mapper` is its
/// oracle.
struct hash_mapper {
  static constexpr char const* name = "hash";

  template <class Key>
  struct workspace {
    key_index<Key> numbers;        ///< of the keys seen so far
    shared_numbering<Key> shared;  ///< where threads share the work
  };

  /// keys (n) → plan. `work` keeps memory between steps. Threads share the work where n times the
  /// threads is 2^20 or more; the plan is the same.
  /// `hash_mapper{}.map(exec, span<key const>(keys.data(), keys.size()), work, plan)`.
  template <class Key>
  void map(host_exec const& exec, span<Key const> keys, workspace<Key>& work,
           id_plan<Key>& plan) const {
    expects(keys.size() < key_index<Key>::absent, "a step holds at most 2^32 - 2 ids");
    if (exec.threads() > 1 && keys.size() * exec.threads() >= worth_sharing) {
      work.shared.map(exec, keys, plan);
      return;
    }
    plan.virtual_ids.resize(keys.size());
    plan.unique.resize(keys.size());
    plan.counts.resize(keys.size());
    auto const distinct = number_keys(keys, work.numbers, plan.virtual_ids.data(),
                                      plan.unique.data(), plan.counts.data());
    plan.unique.resize(distinct);
    plan.counts.resize(distinct);
    transpose(plan);
  }

 private:
  // Keys times threads. To share takes twice the work: two threads gain by it where the keys of a
  // step outgrow the second cache, and many threads sooner.
  static constexpr std::size_t worth_sharing = std::size_t{1} << 20U;
};

static_assert(id_mapper<hash_mapper>);

}  // namespace inlay::inline INLAY_ABI
