#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/views.hpp>
#include <inlay/exchange/communicator.hpp>
#include <inlay/exchange/gradients_to_owners.hpp>
#include <inlay/exchange/keys_by_owner.hpp>
#include <inlay/exchange/owned_keys.hpp>
#include <inlay/exchange/row_exchange.hpp>
#include <inlay/exchange/send_parts.hpp>
#include <inlay/vsid/id_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// A rank asks the owners for the rows of its own distinct keys, and sends them the gradients of
/// those: what is used by one rank alone travels to that rank alone. The exchange to take where
/// ranks share few keys; the oracle of the others.
struct owner_all_to_all {
  static constexpr char const* name = "owner_all_to_all";

  template <class Key>
  class state {
   public:
    template <communicator Comm>
    void request(Comm& comm, host_exec const& exec, id_plan<Key> const& local, deadline until) {
      local_.sort(local.unique.view(), comm.size());
      keys_.resize(local.size());
      counts_.resize(local.size());
      for (std::size_t at = 0; at < local.size(); ++at) {
        keys_[at] = local.unique[local_.order[at]];
        counts_[at] = local.counts[local_.order[at]];
      }
      owned_.from = counts_from(comm, local_.counts, until);
      send_parts(comm, keys_.data(), local_.counts, owned_.from, 1, until, used_keys_);
      send_parts(comm, counts_.data(), local_.counts, owned_.from, 1, until, used_counts_);
      owned_.map(exec, std::as_const(used_keys_).view(), std::as_const(used_counts_).view());
    }

    [[nodiscard]] span<Key const> owned() const noexcept { return owned_.plan.unique.view(); }
    [[nodiscard]] span<std::uint32_t const> owned_counts() const noexcept {
      return owned_.counts.view();
    }

    template <communicator Comm>
    void rows(Comm& comm, host_exec const& exec, span<float const* const> owned_rows,
              std::size_t dim, deadline until, buffer<float>& local) {
      expects(owned_rows.size() == owned().size(), "an exchange needs one row an owned key");
      auto const& uses = owned_.plan.virtual_ids;
      copy_rows(exec, uses.size(), dim, answers_,
                [&](std::size_t use) { return owned_rows[uses[use]]; });
      send_parts(comm, answers_.data(), owned_.from, local_.counts, dim, until, received_);
      local.resize(local_.order.size() * dim);
      for (std::size_t at = 0; at < local_.order.size(); ++at) {
        std::copy_n(received_.data() + at * dim, dim, local.data() + local_.order[at] * dim);
      }
    }

    template <communicator Comm>
    void gradients(Comm& comm, host_exec const& exec, gradient_partials const& partials,
                   std::size_t dim, deadline until, buffer<float>& owned_sums) {
      to_owners_.sum(comm, exec, local_, owned_, partials, dim, until, owned_sums);
    }

   private:
    keys_by_owner local_;
    buffer<Key> keys_;              // (local distinct), by owner
    buffer<std::uint32_t> counts_;  // as keys_
    buffer<Key> used_keys_;         // (uses)
    buffer<std::uint32_t> used_counts_;
    owned_keys<Key> owned_;
    buffer<float> answers_;   // (uses, dim)
    buffer<float> received_;  // (local distinct, dim), by owner
    gradients_to_owners to_owners_;
  };
};

static_assert(row_exchange<owner_all_to_all>);

}  // namespace inlay::inline INLAY_ABI
