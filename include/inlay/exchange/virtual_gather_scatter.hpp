#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/views.hpp>
#include <inlay/exchange/communicator.hpp>
#include <inlay/exchange/global_keys.hpp>
#include <inlay/exchange/gradients_to_owners.hpp>
#include <inlay/exchange/row_exchange.hpp>
#include <inlay/exchange/send_parts.hpp>
#include <inlay/vsid/id_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// Every owner sends all ranks its rows of the global batch, and is sent by each its slice of the
/// gradients: what `virtual_all_reduce` does without the zeros, so with half the bytes. Ours, not
/// the paper's.
struct virtual_gather_scatter {
  static constexpr char const* name = "virtual_gather_scatter";

  template <class Key>
  class state {
   public:
    template <communicator Comm>
    void request(Comm& comm, host_exec const& exec, id_plan<Key> const& local, deadline until) {
      rank_ = comm.rank();
      keys_.request(comm, exec, local, until);
      auto const& order = keys_.by_owner().order;
      slots_.resize(order.size());
      for (std::size_t slot = 0; slot < order.size(); ++slot) {
        slots_[order[slot]] = static_cast<std::uint32_t>(slot);
      }
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
      all_.resize(slots_.size() * dim);
      auto const mine = keys_.by_owner().of(rank_);
      for (std::size_t k = 0; k < mine.size(); ++k) {
        std::copy_n(owned_rows[k], dim, row_of(mine[k], dim));
      }
      gather_parts(comm, detail::scaled(keys_.by_owner().counts, dim), until, all_);
      auto const places = keys_.places();
      copy_rows(exec, places.size(), dim, local,
                [&](std::size_t v) { return row_of(places[v], dim); });
    }

    template <communicator Comm>
    void gradients(Comm& comm, host_exec const& exec, gradient_partials const& partials,
                   std::size_t dim, deadline until, buffer<float>& owned_sums) {
      if (partials.order == sum_order::along_tree) {
        to_owners_.sum(comm, exec, keys_.local(), keys_.owned(), partials, dim, until, owned_sums);
        return;
      }
      all_.assign(slots_.size() * dim, 0.0F);
      auto const places = keys_.places();
      for (std::size_t v = 0; v < places.size(); ++v) {
        std::copy_n(partials.values + v * dim, dim, row_of(places[v], dim));
      }
      auto const mine = owned().size();
      std::vector<std::size_t> const from(comm.size(), mine);
      send_parts(comm, all_.data(), keys_.by_owner().counts, from, dim, until, slices_);
      list_uses(mine);
      gradients_to_owners::add_by_rank(
          exec, keys_.owned().plan,
          [&](std::size_t use) { return slices_.data() + uses_[use] * dim; }, dim, owned_sums);
    }

   private:
    [[nodiscard]] float* row_of(std::size_t key, std::size_t dim) noexcept {
      return all_.data() + slots_[key] * dim;
    }

    /// Where the slices have what is no zero: the rows of ranks that use a key.
    void list_uses(std::size_t rows_a_slice) {
      auto const& owned = keys_.owned();
      uses_.clear();
      for (std::size_t rank = 0; rank < owned.from.size(); ++rank) {
        for (std::size_t n = 0; n < owned.from[rank]; ++n) {
          uses_.push_back(rank * rows_a_slice + owned.plan.virtual_ids[uses_.size()]);
        }
      }
    }

    std::size_t rank_ = 0;
    global_keys<Key> keys_;
    buffer<std::uint32_t> slots_;  // (distinct keys of all ranks), places in the order of owners
    buffer<float> all_;            // (distinct keys of all ranks, dim), in the order of owners
    buffer<float> slices_;         // (ranks, owned, dim)
    buffer<std::size_t> uses_;     // (uses), rows of slices_
    gradients_to_owners to_owners_;
  };
};

static_assert(row_exchange<virtual_gather_scatter>);

}  // namespace inlay::inline INLAY_ABI
