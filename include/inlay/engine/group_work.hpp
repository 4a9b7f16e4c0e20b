#pragma once

#include <inlay/bag/bag_list.hpp>
#include <inlay/cache/row_refs.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/one_of.hpp>
#include <inlay/core/sums.hpp>
#include <inlay/core/views.hpp>
#include <inlay/engine/admitted_keys.hpp>
#include <inlay/engine/exchanged_keys.hpp>
#include <inlay/engine/ranks.hpp>
#include <inlay/exchange/row_exchange.hpp>
#include <inlay/optim/update_rows.hpp>
#include <inlay/vsid/id_plan.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// What a thread needs to sum gradients of rows.
struct gradient_memory {
  tree_sum sums;            ///< of one row
  buffer<float> gradients;  // (row_block::most, dim)

  /// For rows of this width.
  explicit gradient_memory(std::size_t dim) : sums(dim), gradients(row_block::most * dim) {}
};

namespace detail {

template <class Exchange, class Key, class Comm>
inline constexpr bool is_row_exchange = row_exchange<Exchange, Key, Comm>;
template <class... Exchanges, class Key, class Comm>
inline constexpr bool is_row_exchange<one_of<Exchanges...>, Key, Comm> =
    (row_exchange<Exchanges, Key, Comm> && ...);

}  // namespace detail

/// Whether rows travel between ranks by key.
template <class Parts>
inline constexpr bool moves_keys =
    !ranks<typename Parts::comm_type>::alone &&
    detail::is_row_exchange<typename Parts::exchange_type, typename Parts::keys_type::key,
                            typename Parts::comm_type>;

namespace detail {
struct nothing {};

template <class Parts, bool MovesKeys>
struct keys_between_ranks {
  using type = nothing;
};
template <class Parts>
struct keys_between_ranks<Parts, true> {
  using type = exchanged_keys<typename Parts::exchange_type, typename Parts::keys_type::key>;
};
}  // namespace detail

/// Rows for evaluation.
struct peeked_rows {
  buffer<float const*> rows;  // (keys), each (dim)
  buffer<float> first_rows;   // (unknown, dim), of those that nobody has touched
};

/// What a step keeps for one group of tables.
template <class Parts>
struct group_work {
  using key = typename Parts::keys_type::key;

  bag_list bags;                                                 ///< the ids of its fields
  buffer<key> keys;                                              // (n)
  typename Parts::mapper_type::template workspace<key> mapping;  ///< memory of the mapper
  id_plan<key> plan;                                             ///< the distinct ones
  std::vector<gradient_memory> memory;                           ///< one for each thread
  buffer<std::uint32_t> gradient_places;                         // (n), of occurrences
  row_refs refs;                                                 ///< the rows that are brought
  admitted_keys<key> admitted;                                   ///< those that may have one
  peeked_rows peeked;                                            ///< those of an evaluation
  /// Where rows of several ranks meet.
  typename detail::keys_between_ranks<Parts, moves_keys<Parts>>::type between;

  /// The keys whose rows are brought: those of the plan, or those that this rank owns of all
  /// ranks' plans.
  [[nodiscard]] span<key const> brought() const noexcept {
    if constexpr (moves_keys<Parts>) {
      return between.owned();
    } else {
      return plan.unique.view();
    }
  }
  /// How often they occur. // (brought)
  [[nodiscard]] span<std::uint32_t const> counts() const noexcept {
    if constexpr (moves_keys<Parts>) {
      return between.owned_counts();
    } else {
      return plan.counts.view();
    }
  }
  /// The rows that are brought. // (brought), each (dim)
  [[nodiscard]] span<float const* const> rows() const noexcept {
    return {refs.weights.data(), refs.weights.size()};
  }
  /// The rows of the plan. // (distinct), each (dim)
  [[nodiscard]] span<float const* const> used() const noexcept {
    if constexpr (moves_keys<Parts>) {
      return between.used();
    } else {
      return rows();
    }
  }
};

}  // namespace inlay::inline INLAY_ABI
