#pragma once

#include <inlay/bag/backward.hpp>
#include <inlay/bag/bag_list.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/one_of.hpp>
#include <inlay/core/views.hpp>
#include <inlay/exchange/communicator.hpp>
#include <inlay/exchange/gradient_partials.hpp>
#include <inlay/vsid/id_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>
#include <utility>
#include <variant>

namespace inlay::inline INLAY_ABI {

namespace detail {

template <class Exchange, class Key>
struct exchange_state {
  using type = typename Exchange::template state<Key>;
};
template <class... Exchanges, class Key>
struct exchange_state<one_of<Exchanges...>, Key> {
  using type = std::variant<typename Exchanges::template state<Key>...>;
};

/// Calls body(state of the exchange in use).
template <class State, class Body>
decltype(auto) with_exchange(State& state, Body&& body) {
  if constexpr (requires { std::variant_size<std::remove_const_t<State>>::value; }) {
    return std::visit(std::forward<Body>(body), state);
  } else {
    return std::forward<Body>(body)(state);
  }
}

}  // namespace detail

/// The rows of one width that a step of several ranks shares: which of them this rank owns, those
/// that it uses, and the sums of their gradients.
template <class Exchange, class Key>
class exchanged_keys {
 public:
  /// Tells the owners which keys this rank uses, and learns which of its own all use.
  template <class Comm>
  void request(Comm& comm, host_exec const& exec, Exchange const& by, id_plan<Key> const& plan,
               deadline until) {
    choose(by);
    detail::with_exchange(state_, [&](auto& state) { state.request(comm, exec, plan, until); });
  }

  /// Keys that this rank owns, of all ranks' plans, and how often they occur. // (owned)
  [[nodiscard]] span<Key const> owned() const noexcept {
    return detail::with_exchange(state_, [](auto const& state) { return state.owned(); });
  }
  /// How often each of them occurs. // (owned)
  [[nodiscard]] span<std::uint32_t const> owned_counts() const noexcept {
    return detail::with_exchange(state_, [](auto const& state) { return state.owned_counts(); });
  }

  /// Gives out the rows that it owns and gets those that it uses.
  template <class Comm>
  void hand_out(Comm& comm, host_exec const& exec, span<float const* const> owned_rows,
                std::size_t dim, std::size_t used, deadline until) {
    detail::with_exchange(
        state_, [&](auto& state) { state.rows(comm, exec, owned_rows, dim, until, rows_); });
    used_.resize(used);
    for (std::size_t v = 0; v < used; ++v) {
      used_[v] = rows_.data() + v * dim;
    }
  }

  /// The rows that it uses, in the order of its plan. // (distinct), each (dim)
  [[nodiscard]] span<float const* const> used() const noexcept { return used_.view(); }

  /// Sums its shares of the gradients of the rows that it uses. `nodes`: first chunks of the nodes
  /// of the tree that its part of the batch is; empty: one share a row, added by rank.
  template <class Memory>
  void sum_shares(host_exec const& exec, bag_list const& bags, id_plan<Key> const& plan,
                  float const* pooled_gradient, std::size_t dim, span<std::uint32_t> places,
                  span<std::uint32_t const> nodes, Memory& memory) {
    number_shares(bags, plan, nodes);
    shares_.resize(chunks_.size() * dim);
    exec.for_pieces_worker(
        plan.size(), 512, [&](std::size_t first, std::size_t last, std::size_t worker) {
          row_gradients<Key> gradient_of(bags, plan, pooled_gradient, dim, places,
                                         memory[worker].sums);
          gradient_of.open(first, last);
          for (auto v = first; v < last; ++v) {
            auto share = v == 0 ? 0 : std::size_t{ends_[v - 1]};
            auto const next = [&](std::size_t) { return shares_.data() + share++ * dim; };
            if (nodes.empty()) {
              gradient_of(v, next(0));
            } else {
              gradient_of.shares(v, nodes, next);
            }
          }
        });
  }

  /// Sends the shares to the owners, and adds up those of the rows that it owns.
  template <class Comm>
  void collect(Comm& comm, host_exec const& exec, std::size_t dim, sum_order order,
               deadline until) {
    gradient_partials const mine{std::as_const(ends_).view(), std::as_const(chunks_).view(),
                                 shares_.data(), order};
    detail::with_exchange(
        state_, [&](auto& state) { state.gradients(comm, exec, mine, dim, until, sums_); });
  }

  /// The summed gradients of the rows that it owns. // (owned, dim)
  [[nodiscard]] buffer<float> const& sums() const noexcept { return sums_; }

 private:
  /// Makes a state for the choice of a `one_of`.
  void choose(Exchange const& by) {
    if constexpr (is_one_of<Exchange>) {
      if (state_.index() == by.chosen().index()) return;
      std::visit(
          [&](auto const& chosen) {
            using chosen_type = std::remove_cvref_t<decltype(chosen)>;
            state_.template emplace<typename chosen_type::template state<Key>>();
          },
          by.chosen());
    }
  }

  /// Which shares there are: their keys' ends, and the nodes that they are of.
  void number_shares(bag_list const& bags, id_plan<Key> const& plan,
                     span<std::uint32_t const> nodes) {
    ends_.resize(plan.size());
    chunks_.clear();
    for (std::size_t v = 0; v < plan.size(); ++v) {
      if (nodes.size() < 2) {
        chunks_.push_back(nodes.empty() ? 0 : nodes[0]);
      } else {
        for_nodes_of(bags, plan, v, nodes, [&](std::uint32_t node) { chunks_.push_back(node); });
      }
      ends_[v] = static_cast<std::uint32_t>(chunks_.size());
    }
  }

  template <class Visit>
  static void for_nodes_of(bag_list const& bags, id_plan<Key> const& plan, std::size_t v,
                           span<std::uint32_t const> nodes, Visit&& visit) {
    auto at = std::size_t{plan.offsets[v]};
    auto const last = std::size_t{plan.offsets[v + 1]};
    for (std::size_t node = 0; node < nodes.size() && at < last; ++node) {
      auto const next =
          node + 1 < nodes.size() ? nodes[node + 1] - bags.first_chunk : bags.chunk_ends.size();
      auto const before = at;
      while (at < last && plan.occurrences[at] < bags.chunk_ends[next - 1]) {
        ++at;
      }
      if (at > before) visit(nodes[node]);
    }
  }

  typename detail::exchange_state<Exchange, Key>::type state_;
  buffer<float> rows_;            // (distinct, dim)
  buffer<float const*> used_;     // (distinct)
  buffer<std::uint32_t> ends_;    // (distinct), as gradient_partials has it
  buffer<std::uint32_t> chunks_;  // (shares)
  buffer<float> shares_;          // (shares, dim)
  buffer<float> sums_;            // (owned, dim)
};

/// Gradients that are summed already, for whoever moves rows. // sums (rows, dim)
class summed_gradients {
 public:
  /// Of rows in the order in which they lie.
  summed_gradients(float const* sums, std::size_t dim) noexcept : sums_(sums), dim_(dim) {}

  /// Rows first to last - 1 come next.
  void open(std::size_t, std::size_t) const noexcept {}
  /// into = the gradient of row u. // (dim)
  void operator()(std::size_t u, float* into) const noexcept {
    std::copy_n(sums_ + u * dim_, dim_, into);
  }

 private:
  float const* sums_;
  std::size_t dim_;
};

}  // namespace inlay::inline INLAY_ABI
