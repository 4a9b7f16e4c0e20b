#pragma once

#include <inlay/batch/batch_view.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/hash.hpp>
#include <inlay/core/views.hpp>
#include <inlay/exchange/communicator.hpp>
#include <inlay/exchange/self_comm.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// What all ranks of an engine do together.
enum class rank_call : std::uint64_t {
  prefetch,  ///< a batch, or begin with one
  begin,     ///< a step
  finish,    ///< a step
  apply,     ///< its gradients
  lookup,    ///< of a batch
  keep       ///< rows
};

/// The ranks that train together, as an engine sees them: it meets the others before whatever it
/// does with them, so that none goes on where another has failed or does something else.
template <class Comm>
class ranks {
 public:
  /// Whether there is only this one, which then meets nobody.
  static constexpr bool alone = std::is_same_v<Comm, self_comm>;

  /// What a rank that has failed tells instead of a number.
  static constexpr std::uint64_t failed = ~std::uint64_t{0};

  /// Waits for others so many seconds and no longer. `kind`: what must be the same on all ranks, in
  /// one number.
  ranks(Comm comm, double patience_s, std::uint64_t kind = 0)
      : comm_(std::move(comm)),
        kind_(kind),
        patience_(std::chrono::duration_cast<std::chrono::steady_clock::duration>(
            std::chrono::duration<double>(patience_s))) {}

  /// What moves the bytes.
  [[nodiscard]] Comm& comm() noexcept { return comm_; }
  /// When an operation that begins now must be over.
  [[nodiscard]] deadline until() const noexcept {
    return std::chrono::steady_clock::now() + patience_;
  }

  /// The part of a global batch that is this rank's: chunks in a row, as many as the others have or
  /// one more.
  [[nodiscard]] sample_range share_of(sample_range whole, std::size_t chunk_rows) const noexcept {
    auto const chunks = (whole.size() + chunk_rows - 1) / chunk_rows;
    auto const first_of = [&](std::size_t rank) {
      auto const rows = chunks * rank / comm_.size() * chunk_rows;
      return whole.first + (rows < whole.size() ? rows : whole.size());
    };
    return {first_of(comm_.rank()), first_of(comm_.rank() + 1)};
  }

  /// Tells the others a number, and returns those of all. Throws if one does something else: all
  /// ranks call the same members of their engines in the same order.
  [[nodiscard]] std::vector<std::uint64_t> meet(rank_call call, std::int64_t plan,
                                                std::uint64_t value) {
    using words = std::array<std::uint64_t, 4>;
    words const mine{static_cast<std::uint64_t>(call), static_cast<std::uint64_t>(plan), value,
                     kind_};
    std::vector<words> all(comm_.size());
    comm_
        .all_gather({reinterpret_cast<std::byte const*>(mine.data()), sizeof mine},
                    {reinterpret_cast<std::byte*>(all.data()), all.size() * sizeof mine})
        .wait(until());
    std::vector<std::uint64_t> values;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      if (all[rank][0] != mine[0] || all[rank][1] != mine[1]) {
        fail("rank " + std::to_string(comm_.rank()) + " calls " + described(mine) + " where rank " +
             std::to_string(rank) + " calls " + described(all[rank]) +
             ": all ranks must do the same in the same order");
      }
      if (all[rank][3] != kind_) {
        fail("ranks " + std::to_string(comm_.rank()) + " and " + std::to_string(rank) +
             " differ in shape, parts or attached parameters, and all need the same");
      }
      values.push_back(all[rank][2]);
    }
    return values;
  }

  /// Throws on all ranks if one has a failure: there its own.
  void agree(rank_call call, std::int64_t plan, std::exception_ptr const& failure) {
    if constexpr (alone) {
      if (failure) std::rethrow_exception(failure);
    } else {
      static_cast<void>(gather(call, plan, 0, failure));
    }
  }

  /// The numbers of all ranks; or throws on all of them if one has a failure.
  [[nodiscard]] std::vector<std::uint64_t> gather(rank_call call, std::int64_t plan,
                                                  std::uint64_t value,
                                                  std::exception_ptr const& failure) {
    std::vector<std::uint64_t> values;
    try {
      values = meet(call, plan, failure ? failed : value);
    } catch (...) {
      if (failure) std::rethrow_exception(failure);  // the cause rather than what follows from it
      throw;
    }
    if (failure) std::rethrow_exception(failure);
    refuse_if_any(values);
    return values;
  }

  /// Something goes into what must be the same on all ranks.
  void add_to_kind(std::uint64_t more) noexcept { kind_ = mix(kind_, more); }

 private:
  /// Throws if a rank has told the others this value, by which it says that it has failed.
  static void refuse_if_any(std::vector<std::uint64_t> const& values) {
    for (std::size_t rank = 0; rank < values.size(); ++rank) {
      if (values[rank] == failed) {
        fail_by_peer("rank " + std::to_string(rank) +
                     " could not do its part of the step, and tells why; nothing was done here");
      }
    }
  }

  [[nodiscard]] static std::string described(std::array<std::uint64_t, 4> const& words) {
    constexpr std::array names{"prefetch", "begin", "finish", "finish (apply)", "lookup", "keep"};
    return std::string(words[0] < names.size() ? names[words[0]] : "something else") + " number " +
           std::to_string(words[1]);
  }

  Comm comm_;
  std::uint64_t kind_;
  std::chrono::steady_clock::duration patience_;
};

}  // namespace inlay::inline INLAY_ABI
