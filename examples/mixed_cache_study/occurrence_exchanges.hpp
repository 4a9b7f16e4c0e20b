#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/views.hpp>
#include <inlay/exchange/communicator.hpp>
#include <inlay/exchange/gradient_partials.hpp>
#include <inlay/exchange/gradients_to_owners.hpp>
#include <inlay/exchange/keys_by_owner.hpp>
#include <inlay/exchange/owned_keys.hpp>
#include <inlay/exchange/row_exchange.hpp>
#include <inlay/exchange/send_parts.hpp>
#include <inlay/vsid/id_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

/// The keys of a global batch as its ranks have them, repeated as often as they occur: what
/// `inlay::global_keys` is without virtual ids.
template <class Key>
class occurring_keys {
 public:
  /// Gathers the keys of all ranks. All ranks call it together.
  template <inlay::communicator Comm>
  void request(Comm& comm, inlay::host_exec const& exec, inlay::id_plan<Key> const& local,
               inlay::deadline until) {
    sizes_ = inlay::counts_from(comm, std::vector(comm.size(), local.size()), until);
    first_ = std::accumulate(sizes_.data(), sizes_.data() + comm.rank(), std::size_t{0});
    keys_.resize(std::accumulate(sizes_.begin(), sizes_.end(), std::size_t{0}));
    std::copy(local.unique.begin(), local.unique.end(), keys_.begin() + first_);
    inlay::gather_parts(comm, sizes_, until, keys_);
    by_owner_.sort(std::as_const(keys_).view(), comm.size());
    map_owned(exec, comm.rank());
  }

  /// Occurrences in all ranks.
  [[nodiscard]] std::size_t size() const noexcept { return keys_.size(); }
  /// Of this rank, among those of all: they lie together. // first, count
  [[nodiscard]] std::pair<std::size_t, std::size_t> local(std::size_t rank) const noexcept {
    return {first_, sizes_[rank]};
  }
  /// The rank that has an occurrence.
  [[nodiscard]] std::size_t rank_of(std::size_t occurrence) const noexcept {
    std::size_t rank = 0;
    while (occurrence >= sizes_[rank]) {
      occurrence -= sizes_[rank++];
    }
    return rank;
  }
  /// All of them, sorted by owner.
  [[nodiscard]] inlay::keys_by_owner const& by_owner() const noexcept { return by_owner_; }
  /// The distinct keys that this rank owns; a use is an occurrence, in the order of
  /// `by_owner().of(rank)`.
  [[nodiscard]] inlay::owned_keys<Key> const& owned() const noexcept { return owned_; }

 private:
  void map_owned(inlay::host_exec const& exec, std::size_t rank) {
    used_keys_.clear();
    for (auto const at : by_owner_.of(rank)) {
      used_keys_.push_back(keys_[at]);
    }
    ones_.assign(used_keys_.size(), 1);
    owned_.map(exec, std::as_const(used_keys_).view(), std::as_const(ones_).view());
  }

  std::vector<std::size_t> sizes_;  // (ranks), occurrences in each
  std::size_t first_ = 0;           // of this rank's, among all
  inlay::buffer<Key> keys_;         // (occurrences)
  inlay::keys_by_owner by_owner_;
  inlay::buffer<Key> used_keys_;  // those of keys_ that this rank owns
  inlay::buffer<std::uint32_t> ones_;
  inlay::owned_keys<Key> owned_;
};

/// What both exchanges below keep of a step, and say of it.
template <class Key>
class occurrence_state {
 public:
  template <inlay::communicator Comm>
  void request(Comm& comm, inlay::host_exec const& exec, inlay::id_plan<Key> const& local,
               inlay::deadline until) {
    rank_ = comm.rank();
    keys_.request(comm, exec, local, until);
  }
  [[nodiscard]] inlay::span<Key const> owned() const noexcept {
    return keys_.owned().plan.unique.view();
  }
  [[nodiscard]] inlay::span<std::uint32_t const> owned_counts() const noexcept {
    return keys_.owned().counts.view();
  }

 protected:
  /// The occurrences of the keys that this rank owns.
  [[nodiscard]] inlay::span<std::uint32_t const> mine() const noexcept {
    return keys_.by_owner().of(rank_);
  }
  /// Calls body(occurrence, number among the rank's own) for all of this rank.
  template <class Body>
  void for_local(Body const& body) const {
    auto const [first, count] = keys_.local(rank_);
    for (std::size_t v = 0; v < count; ++v) {
      body(first + v, v);
    }
  }
  static void require_by_rank(inlay::gradient_partials const& partials) {
    inlay::expects(partials.order == inlay::sum_order::by_rank,
                   "gradients that travel once an occurrence are added by fast_sums only");
  }

  std::size_t rank_ = 0;
  occurring_keys<Key> keys_;
  inlay::buffer<float> all_;  // (occurrences in all ranks, dim)
};

/// `inlay::virtual_all_reduce` without virtual ids: a tensor of all occurrences is summed.
struct occurrence_all_reduce {
  static constexpr char const* name = "occurrence_all_reduce";

  template <class Key>
  class state : public occurrence_state<Key> {
   public:
    template <inlay::communicator Comm>
    void rows(Comm& comm, inlay::host_exec const&, inlay::span<float const* const> owned_rows,
              std::size_t dim, inlay::deadline until, inlay::buffer<float>& local) {
      auto& all = this->all_;
      all.assign(this->keys_.size() * dim, 0.0F);
      auto const mine = this->mine();
      for (std::size_t use = 0; use < mine.size(); ++use) {
        auto const* const row = owned_rows[this->keys_.owned().plan.virtual_ids[use]];
        std::copy_n(row, dim, all.data() + mine[use] * dim);
      }
      comm.all_reduce(all.view()).wait(until);
      auto const [first, count] = this->keys_.local(this->rank_);
      local.resize(count * dim);
      std::copy_n(all.data() + first * dim, count * dim, local.data());
    }

    template <inlay::communicator Comm>
    void gradients(Comm& comm, inlay::host_exec const& exec,
                   inlay::gradient_partials const& partials, std::size_t dim, inlay::deadline until,
                   inlay::buffer<float>& owned_sums) {
      this->require_by_rank(partials);
      auto& all = this->all_;
      all.assign(this->keys_.size() * dim, 0.0F);
      auto const [first, count] = this->keys_.local(this->rank_);
      std::copy_n(partials.values, count * dim, all.data() + first * dim);
      comm.all_reduce(all.view()).wait(until);
      auto const mine = this->mine();
      inlay::gradients_to_owners::add_by_rank(
          exec, this->keys_.owned().plan,
          [&](std::size_t use) { return all.data() + mine[use] * dim; }, dim, owned_sums);
    }
  };
};
static_assert(inlay::row_exchange<occurrence_all_reduce>);

/// `inlay::virtual_gather_scatter` without virtual ids: owners send all ranks a row an occurrence,
/// and are sent by each a slice of gradients, which are zeros but for its own occurrences.
struct occurrence_gather_scatter {
  static constexpr char const* name = "occurrence_gather_scatter";

  template <class Key>
  class state : public occurrence_state<Key> {
   public:
    template <inlay::communicator Comm>
    void request(Comm& comm, inlay::host_exec const& exec, inlay::id_plan<Key> const& local,
                 inlay::deadline until) {
      occurrence_state<Key>::request(comm, exec, local, until);
      auto const& by_owner = this->keys_.by_owner();
      slots_.resize(by_owner.order.size());
      for (std::size_t slot = 0; slot < slots_.size(); ++slot) {
        slots_[by_owner.order[slot]] = static_cast<std::uint32_t>(slot);
      }
    }

    template <inlay::communicator Comm>
    void rows(Comm& comm, inlay::host_exec const&, inlay::span<float const* const> owned_rows,
              std::size_t dim, inlay::deadline until, inlay::buffer<float>& local) {
      this->all_.resize(slots_.size() * dim);
      auto const mine = this->mine();
      for (std::size_t use = 0; use < mine.size(); ++use) {
        auto const* const row = owned_rows[this->keys_.owned().plan.virtual_ids[use]];
        std::copy_n(row, dim, row_of(mine[use], dim));
      }
      auto floats = this->keys_.by_owner().counts;
      for (auto& count : floats) {
        count *= dim;
      }
      inlay::gather_parts(comm, floats, until, this->all_);
      local.resize(this->keys_.local(this->rank_).second * dim);
      this->for_local([&](std::size_t occurrence, std::size_t v) {
        std::copy_n(row_of(occurrence, dim), dim, local.data() + v * dim);
      });
    }

    template <inlay::communicator Comm>
    void gradients(Comm& comm, inlay::host_exec const& exec,
                   inlay::gradient_partials const& partials, std::size_t dim, inlay::deadline until,
                   inlay::buffer<float>& owned_sums) {
      this->require_by_rank(partials);
      this->all_.assign(slots_.size() * dim, 0.0F);
      this->for_local([&](std::size_t occurrence, std::size_t v) {
        std::copy_n(partials.values + v * dim, dim, row_of(occurrence, dim));
      });
      auto const mine = this->mine().size();
      std::vector<std::size_t> const from(comm.size(), mine);
      inlay::send_parts(comm, this->all_.data(), this->keys_.by_owner().counts, from, dim, until,
                        slices_);
      auto const uses = this->mine();
      inlay::gradients_to_owners::add_by_rank(
          exec, this->keys_.owned().plan,
          [&](std::size_t use) {
            return slices_.data() + (this->keys_.rank_of(uses[use]) * mine + use) * dim;
          },
          dim, owned_sums);
    }

   private:
    [[nodiscard]] float* row_of(std::size_t occurrence, std::size_t dim) noexcept {
      return this->all_.data() + slots_[occurrence] * dim;
    }

    inlay::buffer<std::uint32_t> slots_;  // (occurrences), places in the order of owners
    inlay::buffer<float> slices_;         // (ranks, occurrences of owned keys, dim)
  };
};
static_assert(inlay::row_exchange<occurrence_gather_scatter>);
