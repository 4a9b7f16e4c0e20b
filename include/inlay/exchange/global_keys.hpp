#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/views.hpp>
#include <inlay/exchange/communicator.hpp>
#include <inlay/exchange/keys_by_owner.hpp>
#include <inlay/exchange/owned_keys.hpp>
#include <inlay/exchange/send_parts.hpp>
#include <inlay/vsid/hash_mapper.hpp>
#include <inlay/vsid/id_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// The distinct keys of a global batch, known to every rank (ScaleFreeCTR: every worker sees the
/// ids of the whole batch). Numbered as the whole batch would be: in order of first appearance,
/// ranks in order.
template <class Key>
class global_keys {
 public:
  /// Gathers the keys of all ranks' plans. All ranks call it together.
  template <communicator Comm>
  void request(Comm& comm, host_exec const& exec, id_plan<Key> const& local, deadline until) {
    sizes_.assign(comm.size(), 0);
    auto const size = local.size();
    comm.all_gather(detail::bytes_of(&size, 1),
                    detail::writable_bytes_of(sizes_.data(), sizes_.size()))
        .wait(until);
    keys_.resize(detail::total(sizes_));
    counts_.resize(keys_.size());
    auto const before = std::accumulate(sizes_.data(), sizes_.data() + comm.rank(), std::size_t{0});
    std::copy(local.unique.begin(), local.unique.end(), keys_.begin() + before);
    std::copy(local.counts.begin(), local.counts.end(), counts_.begin() + before);
    gather_parts(comm, sizes_, until, keys_);
    gather_parts(comm, sizes_, until, counts_);
    hash_mapper{}.map(exec, std::as_const(keys_).view(), work_, merged_);
    by_owner_.sort(unique(), comm.size());
    local_.sort(local.unique.view(), comm.size());
    map_owned(exec, comm.rank());
    places_ = {before, size};
  }

  /// Distinct keys of all ranks.
  [[nodiscard]] span<Key const> unique() const noexcept { return merged_.unique.view(); }
  /// The same, sorted by owner.
  [[nodiscard]] keys_by_owner const& by_owner() const noexcept { return by_owner_; }
  /// Those of this rank's plan, sorted by owner.
  [[nodiscard]] keys_by_owner const& local() const noexcept { return local_; }
  /// Those that this rank owns, in the order of `by_owner().of(rank)`.
  [[nodiscard]] owned_keys<Key> const& owned() const noexcept { return owned_; }
  /// The global numbers of this rank's own plan. // (local distinct)
  [[nodiscard]] span<virtual_id const> places() const noexcept {
    return merged_.virtual_ids.view().subspan(places_.first, places_.second);
  }

 private:
  void map_owned(host_exec const& exec, std::size_t rank) {
    owned_.from.assign(sizes_.size(), 0);
    used_keys_.clear();
    used_counts_.clear();
    std::size_t at = 0;
    for (std::size_t user = 0; user < sizes_.size(); ++user) {
      for (auto const end = at + sizes_[user]; at < end; ++at) {
        if (by_owner_.owners[merged_.virtual_ids[at]] != rank) continue;
        used_keys_.push_back(keys_[at]);
        used_counts_.push_back(counts_[at]);
        ++owned_.from[user];
      }
    }
    owned_.map(exec, std::as_const(used_keys_).view(), std::as_const(used_counts_).view());
  }

  std::vector<std::size_t> sizes_;  // (ranks), distinct keys of each
  buffer<Key> keys_;                // (sum of sizes_)
  buffer<std::uint32_t> counts_;    // as keys_
  typename hash_mapper::template workspace<Key> work_;
  id_plan<Key> merged_;
  keys_by_owner by_owner_;
  keys_by_owner local_;
  buffer<Key> used_keys_;  // those of keys_ that this rank owns
  buffer<std::uint32_t> used_counts_;
  owned_keys<Key> owned_;
  std::pair<std::size_t, std::size_t> places_;  // first and count of this rank's part of keys_
};

}  // namespace inlay::inline INLAY_ABI
