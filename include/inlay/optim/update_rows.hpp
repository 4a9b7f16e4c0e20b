#pragma once

#include <inlay/core/config.hpp>
#include <inlay/core/prefetch.hpp>
#include <inlay/optim/row_optimizer.hpp>

#include <array>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// A few rows that move together, of one width, wherever they lie.
struct row_block {
  static constexpr std::size_t most = 32;  ///< so that all of it stays in the nearest cache

  /// Empty.
  row_block(std::size_t width, std::size_t state_width) noexcept
      : dim(width), state_floats(state_width) {}

  std::size_t dim;                           ///< of every row
  std::size_t state_floats;                  ///< of every row
  std::size_t size = 0;                      ///< rows so far
  std::array<float*, most> weights;          // (size), each (dim)
  std::array<float*, most> state;            // (size), each (state_floats)
  std::array<float const*, most> gradients;  // (size), each (dim)
  std::array<float, most> rate_factors;      // (size)

  /// One more row; there must be room. Asks for its memory: a block is moved when it is full. The
  /// gradient may be written until then.
  void add(float* row, float* row_state, float const* gradient, float rate_factor) noexcept {
    prefetch_lines(row, dim * sizeof(float));
    if (state_floats > 0) prefetch_lines(row_state, state_floats * sizeof(float));
    weights[size] = row;
    state[size] = row_state;
    gradients[size] = gradient;
    rate_factors[size++] = rate_factor;
  }
};

/// Moves the rows of a block. Whoever calls it, for rows in a table, in a cache or of a network,
/// runs the same machine code: that is why it knows the rule and nothing else of an engine.
template <row_optimizer Rule>
INLAY_COMPILED_ONCE void update_rows(Rule const& rule, row_block const& rows, step_id step) {
  for (std::size_t i = 0; i < rows.size; ++i) {
    rule.update({rows.weights[i], rows.dim}, {rows.state[i], rows.state_floats},
                {rows.gradients[i], rows.dim}, {.step = step, .rate_factor = rows.rate_factors[i]});
  }
}

}  // namespace inlay::inline INLAY_ABI
