#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/views.hpp>
#include <inlay/vsid/hash_mapper.hpp>
#include <inlay/vsid/id_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// The distinct keys of a global batch that a rank owns, and which ranks use them.
///
/// `plan` is over uses: the keys that rank 0 uses of this owner, each once, then those of rank 1
/// and so on. Its distinct keys are therefore in the order in which the whole batch first meets
/// them, and the uses of a key in the order of ranks.
template <class Key>
struct owned_keys {
  id_plan<Key> plan;              ///< uses → distinct keys, and back
  std::vector<std::size_t> from;  // (ranks), uses of each
  buffer<std::uint32_t> counts;   // (owned), occurrences in the whole batch

  /// Of the keys of all uses and how often each occurs; `from` is known. // both (uses)
  void map(host_exec const& exec, span<Key const> keys, span<std::uint32_t const> occurrences) {
    hash_mapper{}.map(exec, keys, work_, plan);
    counts.assign(plan.size(), 0);
    for (std::size_t use = 0; use < keys.size(); ++use) {
      counts[plan.virtual_ids[use]] += occurrences[use];
    }
  }

 private:
  typename hash_mapper::template workspace<Key> work_;
};

}  // namespace inlay::inline INLAY_ABI
