#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/row_math.hpp>
#include <inlay/core/sums.hpp>
#include <inlay/exchange/communicator.hpp>
#include <inlay/exchange/gradient_partials.hpp>
#include <inlay/exchange/keys_by_owner.hpp>
#include <inlay/exchange/owned_keys.hpp>
#include <inlay/exchange/send_parts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// Sends the shares of gradients to the owners of the rows, which add them: the part that the
/// exchanges have in common. Keeps memory between steps.
class gradients_to_owners {
 public:
  /// Sums over all ranks of what this rank owns. `mine` are the shares for the keys that `local`
  /// has sorted, `owned` are the keys that all ranks use of this one. All ranks call it together.
  // sums (owned, dim)
  template <class Key, communicator Comm>
  void sum(Comm& comm, host_exec const& exec, keys_by_owner const& local,
           owned_keys<Key> const& owned, gradient_partials const& mine, std::size_t dim,
           deadline until, buffer<float>& sums) {
    auto const keys = local.order.size();
    if (mine.order == sum_order::by_rank) {
      values_.resize(keys * dim);
      for (std::size_t at = 0; at < keys; ++at) {
        std::copy_n(mine.values + local.order[at] * dim, dim, values_.data() + at * dim);
      }
      send_parts(comm, values_.data(), local.counts, owned.from, dim, until, received_);
      add_by_rank(
          exec, owned.plan, [&](std::size_t use) { return received_.data() + use * dim; }, dim,
          sums);
      return;
    }
    expects(mine.ends.size() == keys, "every key of the plan needs the end of its shares");
    pack(local, mine, dim);
    send_shares(comm, local.counts, owned.from, dim, until);
    add_along_tree(exec, owned.plan, dim, sums);
  }

  /// sums[u] = Σ row_of(use) over the uses of owned key u in their order, which is that of ranks.
  /// // sums (owned, dim)
  template <class Key, class RowOf>
  static void add_by_rank(host_exec const& exec, id_plan<Key> const& plan, RowOf const& row_of,
                          std::size_t dim, buffer<float>& sums) {
    sums.resize(plan.size() * dim);
    exec.for_pieces(plan.size(), keys_a_piece, [&](std::size_t first, std::size_t last) {
      for (auto u = first; u < last; ++u) {
        auto const uses = plan.occurrences_of(u);
        sum_rows(sums.data() + u * dim, dim, uses.size(),
                 [&](std::size_t n) { return row_of(uses[n]); });
      }
    });
  }

 private:
  static constexpr std::size_t keys_a_piece = 256;

  /// Shares in the order of owners: how many of each key, their chunks and their values.
  void pack(keys_by_owner const& local, gradient_partials const& mine, std::size_t dim) {
    auto const keys = local.order.size();
    counts_.resize(keys);
    chunks_.resize(mine.chunks.size());
    values_.resize(mine.chunks.size() * dim);
    std::size_t packed = 0;
    for (std::size_t at = 0; at < keys; ++at) {
      auto const key = local.order[at];
      auto const first = key == 0 ? 0 : mine.ends[key - 1];
      auto const last = mine.ends[key];
      expects(first <= last && last <= mine.chunks.size(), "ends of shares must ascend");
      expects(packed + last - first <= chunks_.size(), "ends of shares must ascend");
      counts_[at] = last - first;
      std::copy(mine.chunks.begin() + first, mine.chunks.begin() + last, chunks_.data() + packed);
      std::copy_n(mine.values + first * dim, (last - first) * dim, values_.data() + packed * dim);
      packed += last - first;
    }
  }

  /// Counts of shares travel first, for they say how long the rest is.
  template <communicator Comm>
  void send_shares(Comm& comm, std::vector<std::size_t> const& to,
                   std::vector<std::size_t> const& from, std::size_t dim, deadline until) {
    send_parts(comm, counts_.data(), to, from, 1, until, received_counts_);
    auto const shares_to = sums_of_parts(counts_, to);
    auto const shares_from = sums_of_parts(received_counts_, from);
    send_parts(comm, chunks_.data(), shares_to, shares_from, 1, until, received_chunks_);
    send_parts(comm, values_.data(), shares_to, shares_from, dim, until, received_);
  }

  /// The sum of the first parts[0] values, of the next parts[1] and so on.
  [[nodiscard]] static std::vector<std::size_t> sums_of_parts(
      buffer<std::uint32_t> const& values, std::vector<std::size_t> const& parts) {
    std::vector<std::size_t> sums;
    auto const* at = values.begin();
    for (auto const part : parts) {
      sums.push_back(std::accumulate(at, at + part, std::size_t{0}));
      at += part;
    }
    return sums;
  }

  template <class Key>
  void add_along_tree(host_exec const& exec, id_plan<Key> const& plan, std::size_t dim,
                      buffer<float>& sums) {
    begins_.resize(received_counts_.size() + 1);
    begins_[0] = 0;
    for (std::size_t use = 0; use < received_counts_.size(); ++use) {
      begins_[use + 1] = begins_[use] + received_counts_[use];
    }
    sums.resize(plan.size() * dim);
    std::vector<tree_sum> trees;
    while (trees.size() < exec.threads()) {
      trees.emplace_back(dim);
    }
    exec.for_pieces_worker(
        plan.size(), keys_a_piece, [&](std::size_t first, std::size_t last, std::size_t worker) {
          for (auto u = first; u < last; ++u) {
            add_along_tree(plan.occurrences_of(u), trees[worker], dim, sums.data() + u * dim);
          }
        });
  }

  /// A share takes its node's place as it is: added to zero, -0 would not stay what it is where one
  /// rank has all chunks.
  void add_along_tree(span<std::uint32_t const> uses, tree_sum& tree, std::size_t dim,
                      float* into) const {
    tree.clear();
    std::int64_t last = -1;
    for (auto const use : uses) {
      for (auto share = begins_[use]; share < begins_[use + 1]; ++share) {
        auto const chunk = received_chunks_[share];
        expects(chunk > last, "shares of a row come in the order of chunks, rank after rank");
        std::copy_n(received_.data() + share * dim, dim, tree.open(chunk));
        last = chunk;
      }
    }
    if (last < 0) {
      std::fill_n(into, dim, 0.0F);
    } else {
      std::copy_n(tree.total(), dim, into);
    }
  }

  buffer<std::uint32_t> counts_;  // (keys), shares of each
  buffer<std::uint32_t> chunks_;  // (shares)
  buffer<float> values_;          // (shares, dim)
  buffer<std::uint32_t> received_counts_;
  buffer<std::uint32_t> received_chunks_;
  buffer<float> received_;
  buffer<std::size_t> begins_;  // (uses + 1), of shares that were received
};

}  // namespace inlay::inline INLAY_ABI
