#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/views.hpp>

#include <concepts>
#include <cstddef>
#include <string>

namespace inlay::inline INLAY_ABI {

/// Holds its parameters as matrices that an optimizer writes, and makes workspaces that hold their
/// gradients in the same order and shapes.
template <class Network>
concept has_parameters =
    requires(Network& network, Network const& fixed, typename Network::workspace const& workspace) {
      { network.parameters() } -> std::same_as<span<matrix_view<float> const>>;
      { fixed.make_workspace() } -> std::same_as<typename Network::workspace>;
      { workspace.gradients() } -> std::same_as<span<matrix_view<float const> const>>;
    };

/// Turns pooled embeddings and dense features into one logit a row, and logit gradients into
/// gradients.
template <class Network>
concept differentiable =
    requires(Network const& network, typename Network::workspace& workspace,
             matrix_view<float const> matrix, span<float const> logit_gradients) {
      { network.forward(matrix, matrix, workspace) } -> std::same_as<span<float const>>;
      { network.backward(logit_gradients, workspace) } -> std::same_as<matrix_view<float const>>;
    };

/// The same calls with a workspace of the network's own, for programs that run one chunk at a time.
template <class Network>
concept has_own_workspace =
    requires(Network& network, matrix_view<float const> matrix, span<float const> logit_gradients) {
      { network.forward(matrix, matrix) } -> std::same_as<span<float const>>;
      { network.backward(logit_gradients) } -> std::same_as<matrix_view<float const>>;
      { network.gradients() } -> std::same_as<span<matrix_view<float const> const>>;
    };

/// The dense part of a model, between pooled embeddings and the loss.
///
/// forward(pooled, dense, workspace): pooled (rows, sum of the fields' dims) and dense (rows, dense
/// features), rows at any stride, give logits (rows). Both must stay as they are until `backward`,
/// which reads them again. backward(logit_gradients, workspace): the gradient of pooled, in its
/// shape. It overwrites the workspace's parameter gradients with sums over these rows; dividing by
/// a batch is the engine's. Results live in the workspace until its next call, which needs no new
/// memory for as many rows.
///
/// Calls with different workspaces may run side by side. Same rows, same bits: no result depends on
/// the workspace, and a row's logit depends on other rows in their number only.
/// `testing/network_laws.hpp` checks all this.
template <class Network>
concept network = has_parameters<Network> && differentiable<Network> && has_own_workspace<Network>;

namespace detail {

/// States that a network was called with the columns that it was made for.
inline void expects_columns(matrix_view<float const> pooled, std::size_t pooled_cols,
                            matrix_view<float const> dense, std::size_t dense_cols,
                            char const* who) {
  if (pooled.cols != pooled_cols) {
    fail(std::string(who) + " was made for " + std::to_string(pooled_cols) +
         " pooled columns (fields x dim, one dim for all fields), not " +
         std::to_string(pooled.cols));
  }
  if (dense.cols != dense_cols) {
    fail(std::string(who) + " was made for " + std::to_string(dense_cols) +
         " dense features, not " + std::to_string(dense.cols));
  }
  // Without dense features there may be no dense matrix at all.
  if (dense_cols > 0 && dense.rows != pooled.rows) {
    fail("there are " + std::to_string(pooled.rows) + " pooled rows but " +
         std::to_string(dense.rows) + " dense ones");
  }
}

}  // namespace detail

}  // namespace inlay::inline INLAY_ABI
