#pragma once

#include <inlay/core/checks_knobs.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/core/views.hpp>

#include <concepts>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// What an update needs to know beside the row.
struct update_context {
  step_id step{};            ///< optimizer steps applied before this one
  float rate_factor = 1.0F;  ///< the table's learning-rate factor
};

/// Says how much state a row needs and what it begins as.
template <class T>
concept has_row_state = requires(T const optimizer, std::size_t dim, span<float> state) {
  { optimizer.state_floats(dim) } -> std::same_as<std::size_t>;
  { optimizer.reset(state) } -> std::same_as<void>;
};

/// Moves one row against its gradient. It must be noexcept: a step is applied as a whole or not at
/// all.
template <class T>
concept updates_rows = requires(T const optimizer, span<float> row, span<float> state,
                                span<float const> gradient, update_context const& context) {
  { optimizer.update(row, state, gradient, context) } noexcept -> std::same_as<void>;
};

/// A rule that moves rows. It sees a row once a step, with the sum of its gradients; the same rule
/// moves the rows of dense parameters. Laws: testing/row_optimizer_laws.hpp.
template <class T>
concept row_optimizer = std::copyable<T> && checks_knobs<T> && has_row_state<T> && updates_rows<T>;

}  // namespace inlay::inline INLAY_ABI
