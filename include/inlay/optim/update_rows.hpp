#pragma once

#include <inlay/core/config.hpp>
#include <inlay/optim/row_optimizer.hpp>

#include <array>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// A few rows that move together, of one width, wherever they lie.
struct row_block {
  static constexpr std::size_t most = 32;  ///< so that their gradients stay in the nearest cache

  /// Empty.
  explicit row_block(std::size_t width) noexcept : dim(width) {}

  std::size_t dim;                           ///< of every row
  std::size_t size = 0;                      ///< rows so far
  std::array<float*, most> weights;          // (size), each (dim)
  std::array<float*, most> state;            // (size), each (state_floats(dim))
  std::array<float const*, most> gradients;  // (size), each (dim)
  std::array<float, most> rate_factors;      // (size)

  /// One more row; there must be room.
  void add(float* row, float* row_state, float const* gradient, float rate_factor) noexcept {
    weights[size] = row;
    state[size] = row_state;
    gradients[size] = gradient;
    rate_factors[size++] = rate_factor;
  }
};

namespace detail {

/// Asks for floats that will soon be written.
inline void fetch_ahead(float const* first, std::size_t count) noexcept {
  constexpr std::size_t line = 16;  // floats of a cache line
  for (std::size_t i = 0; i < count; i += line) {
    __builtin_prefetch(first + i, 1);
  }
}

}  // namespace detail

/// Moves the rows of a block. Whoever calls it, for rows in a table, in a cache or of a network,
/// runs the same machine code: that is why it knows the rule and nothing else of an engine.
template <row_optimizer Rule>
INLAY_COMPILED_ONCE void update_rows(Rule const& rule, row_block const& rows, step_id step) {
  auto const state_floats = rule.state_floats(rows.dim);
  constexpr std::size_t ahead = 4;  // rows on their way from memory while one is moved
  for (std::size_t i = 0; i < rows.size; ++i) {
    if (i + ahead < rows.size) {
      detail::fetch_ahead(rows.weights[i + ahead], rows.dim);
      detail::fetch_ahead(rows.state[i + ahead], state_floats);
    }
    rule.update({rows.weights[i], rows.dim}, {rows.state[i], state_floats},
                {rows.gradients[i], rows.dim}, {.step = step, .rate_factor = rows.rate_factors[i]});
  }
}

}  // namespace inlay::inline INLAY_ABI
