#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/dyadic_nodes.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/sums.hpp>
#include <inlay/core/views.hpp>
#include <inlay/engine/ranks.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// Adds up the gradients of attached parameters over ranks. Every rank gets the same bits.
class shared_sums {
 public:
  /// Gathers the nodes of all ranks and adds them along the tree over all chunks: the sums are
  /// those that one rank with all chunks would have. `own`: the sums of this rank's nodes.
  // nodes_of (ranks), how many each has; own (own nodes, size), sums (size)
  template <class Comm>
  void along_tree(ranks<Comm>& all, host_exec const& exec,
                  std::vector<buffer<std::uint32_t>> const& nodes_of, float const* own,
                  std::size_t size, float* sums) {
    std::size_t most = 0;
    for (auto const& nodes : nodes_of) {
      most = std::max(most, nodes.size());
    }
    // All ranks send as much as the one that has most.
    padded_.assign(most * size, 0.0F);
    std::copy_n(own, nodes_of[all.comm().rank()].size() * size, padded_.begin());
    gathered_.resize(nodes_of.size() * most * size);
    all.comm()
        .all_gather(
            {reinterpret_cast<std::byte const*>(padded_.data()), most * size * sizeof *own},
            {reinterpret_cast<std::byte*>(gathered_.data()), gathered_.size() * sizeof *own})
        .wait(all.until());
    exec.for_pieces(size, 4096, [&](std::size_t first, std::size_t last) {
      tree_sum tree(last - first);
      for (std::size_t rank = 0; rank < nodes_of.size(); ++rank) {
        for (std::size_t node = 0; node < nodes_of[rank].size(); ++node) {
          std::copy_n(gathered_.data() + (rank * most + node) * size + first, last - first,
                      tree.open(nodes_of[rank][node]));
        }
      }
      std::copy_n(tree.total(), last - first, sums + first);
    });
  }

 private:
  buffer<float> padded_;    // (most nodes of a rank, size)
  buffer<float> gathered_;  // (ranks, most nodes of a rank, size)
};

}  // namespace inlay::inline INLAY_ABI
