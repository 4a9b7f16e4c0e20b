#pragma once

#include <inlay/core/error.hpp>
#include <inlay/vsid/id_plan.hpp>
#include <inlay/vsid/key_index.hpp>
#include <inlay/vsid/key_partitions.hpp>

#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Numbers the distinct keys of a step by a hash table. The mapper to take; `sort_mapper` is its
/// oracle.
struct hash_mapper {
  static constexpr char const* name = "hash";

  template <class Key>
  struct workspace {
    key_index<Key> numbers;     ///< of the keys seen so far
    key_partitions<Key> parts;  ///< where threads share the work
  };

  /// keys (n) → plan. `work` keeps memory between steps.
  template <class Key>
  void map(host_exec const& exec, span<Key const> keys, workspace<Key>& work,
           id_plan<Key>& plan) const {
    expects(keys.size() < key_index<Key>::absent, "a step holds at most 2^32 - 2 ids");
    if (exec.threads() > 1 && keys.size() >= worth_sharing) {
      work.parts.map(exec, keys, plan);
      return;
    }
    plan.virtual_ids.resize(keys.size());
    number(keys, work, plan.unique, plan.virtual_ids.data());
    count(plan.virtual_ids.view(), plan.unique.size(), plan.counts);
    transpose(plan);
  }

 private:
  static constexpr std::size_t worth_sharing = 16384;  // keys; below, waking threads is dearer

  template <class Key>
  static void number(span<Key const> keys, workspace<Key>& work, buffer<Key>& unique,
                     virtual_id* numbers) {
    work.numbers.clear();
    unique.clear();
    work.numbers.find_or_insert_each(
        keys, [&] { return static_cast<std::uint32_t>(unique.size()); },
        [&](std::size_t i, std::uint32_t number, bool is_new) {
          numbers[i] = number;
          if (is_new) {
            unique.push_back(keys[i]);
          }
        });
  }

  static void count(span<virtual_id const> numbers, std::size_t distinct,
                    buffer<std::uint32_t>& counts) {
    counts.assign(distinct, 0);
    for (auto const number : numbers) {
      ++counts[number];
    }
  }
};

static_assert(id_mapper<hash_mapper>);

}  // namespace inlay::inline INLAY_ABI
