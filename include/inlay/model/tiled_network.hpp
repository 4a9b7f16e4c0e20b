#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/views.hpp>
#include <inlay/model/aligned_matrix.hpp>
#include <inlay/model/network.hpp>
#include <inlay/model/tensors.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// Some rows of a network's input, both parts.
struct input_rows {
  matrix_view<float const> pooled;  ///< embeddings
  matrix_view<float const> dense;   ///< features; perhaps none at all

  /// Some of them, one after the other.
  [[nodiscard]] input_rows range(std::size_t first, std::size_t count) const noexcept {
    return {pooled.row_range(first, count),
            dense.cols > 0 ? dense.row_range(first, count) : matrix_view<float const>()};
  }
};

/// What a network does to some rows at a time, for `tiled_network` to make a `network` of.
///
/// Layers are made from their `knobs` and own no memory. `shapes` are those of their tensors, which
/// `initialise` gives first weights. `forward` adds to logits and leaves in `tile` what `backward`
/// needs; that one adds to the tensors' gradients and overwrites those of pooled rows. `scratch` is
/// memory for the time of a call.
template <class Layers>
concept network_layers =
    requires(Layers const& layers, typename Layers::tile& tile, typename Layers::scratch& scratch,
             tensor_span<float const> parameters, tensor_span<float> gradients, input_rows rows,
             span<float> logits, span<float const> logit_gradients, matrix_view<float> pooled) {
      Layers(typename Layers::knobs());
      { Layers::name } -> std::convertible_to<char const*>;
      { layers.pooled_width() } -> std::same_as<std::size_t>;
      { layers.dense_width() } -> std::same_as<std::size_t>;
      { layers.shapes() } -> std::same_as<std::vector<tensor_shape>>;
      layers.initialise(gradients);
      layers.forward(parameters, rows, tile, scratch, logits);
      layers.backward(parameters, rows, tile, logit_gradients, gradients, scratch, pooled);
    };

/// A `network` made of layers: what networks have in common, which is a bias, memory, and the way
/// to cut rows.
///
/// Rows go through all layers a tile at a time, so that what one layer writes is still in the
/// second cache when the next one reads it: a quarter of the time at 8192 rows a step. And a row of
/// a whole tile has the same logit however many tiles there are.
template <network_layers Layers>
class tiled_network {
  static constexpr std::size_t tile_rows = 128;

 public:
  /// What a network is made of.
  using knobs = typename Layers::knobs;

  /// As `network` asks.
  class workspace {
   public:
    /// As `network` asks.
    [[nodiscard]] span<matrix_view<float const> const> gradients() const noexcept {
      return gradients_.views();
    }

   private:
    friend class tiled_network;

    tensors gradients_;
    buffer<float> logits_;
    std::vector<typename Layers::tile> tiles_;
    typename Layers::scratch scratch_;
    aligned_matrix pooled_gradients_;  // (rows, pooled width)
    input_rows rows_;                  // the caller's, from forward to backward
  };

  /// Draws first weights from the seed. Throws for widths without sense.
  explicit tiled_network(knobs chosen)
      : layers_(std::move(chosen)), parameters_(shapes()), own_(make_workspace()) {
    layers_.initialise(parameters_.views().subspan(1));
  }

  /// The bias (1, 1), then the tensors of the layers.
  [[nodiscard]] span<matrix_view<float> const> parameters() noexcept { return parameters_.views(); }

  /// As `network` asks.
  [[nodiscard]] workspace make_workspace() const {
    workspace made;
    made.gradients_ = tensors(parameters_.shapes());
    return made;
  }

  /// As `network` asks.
  [[nodiscard]] span<float const> forward(matrix_view<float const> pooled,
                                          matrix_view<float const> dense, workspace& w) const {
    detail::expects_columns(pooled, layers_.pooled_width(), dense, layers_.dense_width(),
                            Layers::name);
    w.rows_ = {pooled, dense};
    w.logits_.assign(pooled.rows, parameters_.values(0)[0]);
    w.tiles_.resize(std::max(w.tiles_.size(), (pooled.rows + tile_rows - 1) / tile_rows));
    for (std::size_t first = 0; first < pooled.rows; first += tile_rows) {
      auto const rows = std::min(tile_rows, pooled.rows - first);
      layers_.forward(parameters_.views().subspan(1), w.rows_.range(first, rows),
                      w.tiles_[first / tile_rows], w.scratch_,
                      w.logits_.view().subspan(first, rows));
    }
    return std::as_const(w.logits_).view();
  }

  /// As `network` asks.
  [[nodiscard]] matrix_view<float const> backward(span<float const> logit_gradients,
                                                  workspace& w) const {
    expects(logit_gradients.size() == w.logits_.size(),
            "backward needs one gradient for each logit of the last forward");
    w.gradients_.set_zero();
    for (auto const gradient : logit_gradients) {
      w.gradients_.values(0)[0] += gradient;
    }
    w.pooled_gradients_.resize(logit_gradients.size(), layers_.pooled_width());
    for (std::size_t first = 0; first < logit_gradients.size(); first += tile_rows) {
      auto const rows = std::min(tile_rows, logit_gradients.size() - first);
      layers_.backward(parameters_.views().subspan(1), w.rows_.range(first, rows),
                       w.tiles_[first / tile_rows], logit_gradients.subspan(first, rows),
                       w.gradients_.views().subspan(1), w.scratch_,
                       w.pooled_gradients_.view().row_range(first, rows));
    }
    return std::as_const(w.pooled_gradients_).view();
  }

  /// As `network` asks.
  [[nodiscard]] span<float const> forward(matrix_view<float const> pooled,
                                          matrix_view<float const> dense) {
    return forward(pooled, dense, own_);
  }
  /// As `network` asks.
  [[nodiscard]] matrix_view<float const> backward(span<float const> logit_gradients) {
    return backward(logit_gradients, own_);
  }
  /// As `network` asks.
  [[nodiscard]] span<matrix_view<float const> const> gradients() const noexcept {
    return own_.gradients();
  }

 private:
  [[nodiscard]] std::vector<tensor_shape> shapes() const {
    auto all = layers_.shapes();
    all.insert(all.begin(), {1, 1});
    return all;
  }

  Layers layers_;
  tensors parameters_;
  workspace own_;
};

}  // namespace inlay::inline INLAY_ABI
