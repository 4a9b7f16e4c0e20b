#pragma once

#include <inlay/core/host_exec.hpp>
#include <inlay/testing/trial.hpp>
#include <inlay/vsid/id_plan.hpp>
#include <inlay/vsid/merge.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

namespace testing {

/// Keys of a few tables, many of them equal, among them the smallest and the largest that there
/// are.
template <key_packing Keys>
[[nodiscard]] std::vector<typename Keys::key> some_keys(trial& with, std::size_t count,
                                                        std::size_t tables, std::size_t ids) {
  std::vector<typename Keys::key> keys(count);
  for (auto& key : keys) {
    auto const table = static_cast<table_id>(with.below(tables));
    auto const id = static_cast<raw_id>(with.skewed(ids));
    key = Keys::pack(table, with.chance(1) ? (raw_id{1} << 48U) - 1 - id : id);
  }
  return keys;
}

/// Law: a plan is the one that a map from key to number gives, key by key.
template <class Key>
void check_plan(trial const& with, span<Key const> keys, id_plan<Key> const& plan) {
  std::map<Key, virtual_id> numbers;
  std::vector<std::vector<std::uint32_t>> occurrences;
  with.require(plan.virtual_ids.size() == keys.size(), "every occurrence has a virtual id");
  for (std::size_t i = 0; i < keys.size(); ++i) {
    auto const [at, is_new] = numbers.try_emplace(keys[i], static_cast<virtual_id>(numbers.size()));
    if (is_new) occurrences.emplace_back();
    with.require(plan.virtual_ids[i] == at->second, "numbers are in order of first appearance");
    occurrences[at->second].push_back(static_cast<std::uint32_t>(i));
  }
  auto const distinct = numbers.size();
  with.require(plan.unique.size() == distinct && plan.counts.size() == distinct &&
                   plan.offsets.size() == distinct + 1 && plan.occurrences.size() == keys.size(),
               "the numbers are dense, and every part of the plan has its size");
  with.require(plan.offsets[0] == 0 && plan.offsets[distinct] == keys.size(),
               "offsets begin at zero and end at the number of occurrences");
  for (std::size_t v = 0; v < distinct; ++v) {
    with.require(numbers.at(plan.unique[v]) == v, "unique[virtual_ids[i]] is keys[i]");
    with.require(plan.counts[v] == occurrences[v].size() &&
                     plan.offsets[v + 1] - plan.offsets[v] == plan.counts[v],
                 "counts and offsets add up");
    auto const mine = plan.occurrences_of(v);
    with.require(std::equal(mine.begin(), mine.end(), occurrences[v].begin(), occurrences[v].end()),
                 "occurrences are the transpose, ascending within a key");
  }
}

/// Law: mapping parts and merging the plans in order equals mapping the whole.
template <class Key, class Mapper>
void check_merge(trial& with, Mapper const& mapper, host_exec const& exec,
                 std::vector<Key> const& keys, std::size_t ranks) {
  typename Mapper::template workspace<Key> work;
  id_plan<Key> whole;
  mapper.map(exec, span<Key const>(keys.data(), keys.size()), work, whole);

  std::vector<std::size_t> cuts{0, keys.size()};
  for (std::size_t rank = 1; rank < ranks; ++rank) {
    cuts.push_back(with.below(keys.size() + 1));  // some ranks have nothing
  }
  std::sort(cuts.begin(), cuts.end());
  std::vector<id_plan<Key>> parts(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    mapper.map(exec, span<Key const>(keys.data() + cuts[rank], cuts[rank + 1] - cuts[rank]), work,
               parts[rank]);
  }
  merged_plan<Key> merged;
  merge(exec, mapper, span<id_plan<Key> const>(parts.data(), ranks), work, merged);

  with.require(std::equal(merged.unique.begin(), merged.unique.end(), whole.unique.begin(),
                          whole.unique.end()) &&
                   std::equal(merged.counts.begin(), merged.counts.end(), whole.counts.begin(),
                              whole.counts.end()),
               "merged plans have the keys and counts of the whole");
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    for (auto i = cuts[rank]; i < cuts[rank + 1]; ++i) {
      auto const own = parts[rank].virtual_ids[i - cuts[rank]];
      with.require(merged.places[rank][own] == whole.virtual_ids[i],
                   "merged plans give every occurrence the number that it has in the whole");
    }
  }
}

/// Checks the laws of `id_mapper` on random keys; throws `error` with the one that is broken. One
/// workspace and one plan serve all calls, as in an engine.
template <key_packing Keys = narrow, class Mapper>
  requires id_mapper<Mapper, Keys>
void check_id_mapper(Mapper const& mapper, std::uint64_t seed = 1) {
  using key = typename Keys::key;
  trial with("the mapper", seed);
  std::vector<host_exec> const execs{host_exec(1), host_exec(2), host_exec(5)};
  typename Mapper::template workspace<key> work;
  id_plan<key> plan;
  for (std::size_t round = 0; round < 60; ++round) {
    auto const& exec = execs[with.below(execs.size())];
    auto const count = round < 3 ? round : with.skewed(6000);
    auto const keys = some_keys<Keys>(with, count, 1 + with.below(9), 1 + with.skewed(5000));
    auto const view = span<key const>(keys.data(), keys.size());
    mapper.map(exec, view, work, plan);
    check_plan(with, view, plan);
    check_merge(with, mapper, exec, keys, 1 + with.below(5));
  }
}

}  // namespace testing

}  // namespace inlay::inline INLAY_ABI
