#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/views.hpp>
#include <inlay/exchange/communicator.hpp>
#include <inlay/exchange/gradient_partials.hpp>
#include <inlay/exchange/self_comm.hpp>
#include <inlay/vsid/id_plan.hpp>
#include <inlay/vsid/keys.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// What a step of one width begins with: every rank tells the others which keys it uses. Then
/// `owned()` are the distinct keys of all ranks' plans that this rank owns, in the order in which
/// the whole batch, ranks in order, first meets them, and `owned_counts()` how often it does.
template <class T, class Key, class Comm>
concept requests_rows = std::default_initializable<T> &&
                        requires(T state, T const known, Comm comm, host_exec const& exec,
                                 id_plan<Key> const& local, deadline until) {
                          { state.request(comm, exec, local, until) } -> std::same_as<void>;
                          { known.owned() } -> std::same_as<span<Key const>>;
                          { known.owned_counts() } -> std::same_as<span<std::uint32_t const>>;
                        };

/// `rows` brings each rank the rows of its own plan, in the order of its virtual ids, from the
/// owners, who give theirs in the order of `owned()`. `gradients` brings each owner the sums of all
/// ranks' shares. // local (distinct, dim), sums (owned, dim)
template <class T, class Key, class Comm>
concept moves_rows =
    requires(T state, Comm comm, host_exec const& exec, span<float const* const> owned_rows,
             std::size_t dim, deadline until, buffer<float>& into, gradient_partials const& mine) {
      { state.rows(comm, exec, owned_rows, dim, until, into) } -> std::same_as<void>;
      { state.gradients(comm, exec, mine, dim, until, into) } -> std::same_as<void>;
    };

/// A way for rows to get from the ranks that own them to those that use them, and gradients back.
/// A `state` is one step's of one width, and keeps memory for the next. All ranks call the same
/// functions in the same order; one with an empty plan takes part. All exchanges give the same
/// rows, and the same sums along the tree, bit for bit.
template <class T, class Key = narrow::key, class Comm = self_comm>
concept row_exchange = requires { typename T::template state<Key>; } &&
                       requests_rows<typename T::template state<Key>, Key, Comm> &&
                       moves_rows<typename T::template state<Key>, Key, Comm>;

/// Copies row_of(i) to row i of `into`, for i below `rows`; threads share the work. // into (rows,
/// dim)
template <class RowOf>
void copy_rows(host_exec const& exec, std::size_t rows, std::size_t dim, buffer<float>& into,
               RowOf const& row_of) {
  into.resize(rows * dim);
  exec.for_pieces(rows, 1024, [&](std::size_t first, std::size_t last) {
    for (auto i = first; i < last; ++i) {
      std::copy_n(row_of(i), dim, into.data() + i * dim);
    }
  });
}

}  // namespace inlay::inline INLAY_ABI
