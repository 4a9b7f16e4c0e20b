#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/views.hpp>
#include <inlay/exchange/communicator.hpp>
#include <inlay/exchange/global_keys.hpp>
#include <inlay/exchange/gradients_to_owners.hpp>
#include <inlay/exchange/row_exchange.hpp>
#include <inlay/vsid/id_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Rows and gradients of all distinct keys of the global batch are summed over the ranks, each of
/// which gives zeros for what is not its own (ScaleFreeCTR, the all-reduce of virtual embeddings).
/// One operation that networks are built for, and the most bytes.
///
/// Zeros are added to rows: -0 arrives as 0, all else as it is. Along the tree gradients can't be
/// all-reduced, for that adds by rank: then their shares go to the owners, as in
/// `owner_all_to_all`.
struct virtual_all_reduce {
  static constexpr char const* name = "virtual_all_reduce";

  template <class Key>
  class state {
   public:
    template <communicator Comm>
    void request(Comm& comm, host_exec const& exec, id_plan<Key> const& local, deadline until) {
      rank_ = comm.rank();
      keys_.request(comm, exec, local, until);
    }

    [[nodiscard]] span<Key const> owned() const noexcept {
      return keys_.owned().plan.unique.view();
    }
    [[nodiscard]] span<std::uint32_t const> owned_counts() const noexcept {
      return keys_.owned().counts.view();
    }

    template <communicator Comm>
    void rows(Comm& comm, host_exec const& exec, span<float const* const> owned_rows,
              std::size_t dim, deadline until, buffer<float>& local) {
      expects(owned_rows.size() == owned().size(), "an exchange needs one row an owned key");
      all_.assign(keys_.unique().size() * dim, 0.0F);
      auto const mine = keys_.by_owner().of(rank_);
      for (std::size_t k = 0; k < mine.size(); ++k) {
        std::copy_n(owned_rows[k], dim, row(mine[k], dim));
      }
      comm.all_reduce(all_.view()).wait(until);
      auto const places = keys_.places();
      copy_rows(exec, places.size(), dim, local,
                [&](std::size_t v) { return row(places[v], dim); });
    }

    template <communicator Comm>
    void gradients(Comm& comm, host_exec const& exec, gradient_partials const& partials,
                   std::size_t dim, deadline until, buffer<float>& owned_sums) {
      if (partials.order == sum_order::along_tree) {
        to_owners_.sum(comm, exec, keys_.local(), keys_.owned(), partials, dim, until, owned_sums);
        return;
      }
      all_.assign(keys_.unique().size() * dim, 0.0F);
      auto const places = keys_.places();
      for (std::size_t v = 0; v < places.size(); ++v) {
        std::copy_n(partials.values + v * dim, dim, row(places[v], dim));
      }
      comm.all_reduce(all_.view()).wait(until);
      auto const mine = keys_.by_owner().of(rank_);
      copy_rows(exec, mine.size(), dim, owned_sums,
                [&](std::size_t k) { return row(mine[k], dim); });
    }

   private:
    [[nodiscard]] float* row(std::size_t key, std::size_t dim) noexcept {
      return all_.data() + key * dim;
    }

    std::size_t rank_ = 0;
    global_keys<Key> keys_;
    buffer<float> all_;  // (distinct keys of all ranks, dim)
    gradients_to_owners to_owners_;
  };
};

static_assert(row_exchange<virtual_all_reduce>);

}  // namespace inlay::inline INLAY_ABI
