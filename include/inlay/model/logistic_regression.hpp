#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/views.hpp>
#include <inlay/model/aligned_matrix.hpp>
#include <inlay/model/linear_unit.hpp>
#include <inlay/model/network.hpp>
#include <inlay/model/tensors.hpp>

#include <algorithm>
#include <cstddef>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// Logistic regression over embeddings of width 1: logit = bias + sum of a row's pooled columns +
/// dense w.
///
/// Tensors: bias (1, 1), then w (dense features, 1) where there are any; zero at first.
class logistic_regression {
 public:
  /// What a network is made of.
  struct knobs {
    std::size_t fields = 0;       ///< weights of a sample
    std::size_t dense_width = 0;  ///< dense features
  };

  class workspace {
   public:
    [[nodiscard]] span<matrix_view<float const> const> gradients() const noexcept {
      return gradients_.views();
    }

   private:
    friend class logistic_regression;

    tensors gradients_;
    buffer<float> logits_;
    aligned_matrix pooled_gradients_;  // (rows, fields)
    matrix_view<float const> dense_;   // the caller's, from forward to backward
  };

  /// All weights begin at zero. Throws without a field.
  explicit logistic_regression(knobs const& chosen)
      : knobs_(chosen), parameters_(shapes(chosen)), own_(make_workspace()) {
    expects(chosen.fields > 0, "logistic regression needs at least one field");
  }

  [[nodiscard]] span<matrix_view<float> const> parameters() noexcept { return parameters_.views(); }

  [[nodiscard]] workspace make_workspace() const {
    workspace made;
    made.gradients_ = tensors(parameters_.shapes());
    return made;
  }

  [[nodiscard]] span<float const> forward(matrix_view<float const> pooled,
                                          matrix_view<float const> dense, workspace& w) const {
    detail::expects_columns(pooled, knobs_.fields, dense, knobs_.dense_width,
                            "logistic regression");
    w.dense_ = dense;
    w.logits_.resize(pooled.rows);
    w.pooled_gradients_.resize(pooled.rows, pooled.cols);
    auto const bias = parameters_.values(0)[0];
    for (std::size_t r = 0; r < pooled.rows; ++r) {
      auto const* const row = pooled.data + r * pooled.stride;
      w.logits_[r] = bias + detail::lane_sum(pooled.cols, [=](std::size_t c) { return row[c]; });
    }
    if (knobs_.dense_width > 0) {
      linear_unit::add_outputs(dense, parameters_.values(1), w.logits_.view());
    }
    return span<float const>(w.logits_.data(), w.logits_.size());
  }

  [[nodiscard]] matrix_view<float const> backward(span<float const> logit_gradients,
                                                  workspace& w) const {
    expects(logit_gradients.size() == w.logits_.size(),
            "backward needs one gradient for each logit of the last forward");
    auto const pooled_gradients = w.pooled_gradients_.view();
    auto bias_gradient = 0.0F;
    for (std::size_t r = 0; r < pooled_gradients.rows; ++r) {
      bias_gradient += logit_gradients[r];
      auto const row = pooled_gradients.row(r);
      std::fill(row.begin(), row.end(), logit_gradients[r]);
    }
    w.gradients_.set_zero();
    w.gradients_.values(0)[0] = bias_gradient;
    if (knobs_.dense_width > 0) {
      linear_unit::add_weight_gradients(w.dense_, logit_gradients, w.gradients_.values(1));
    }
    return pooled_gradients;
  }

  [[nodiscard]] span<float const> forward(matrix_view<float const> pooled,
                                          matrix_view<float const> dense) {
    return forward(pooled, dense, own_);
  }
  [[nodiscard]] matrix_view<float const> backward(span<float const> logit_gradients) {
    return backward(logit_gradients, own_);
  }
  [[nodiscard]] span<matrix_view<float const> const> gradients() const noexcept {
    return own_.gradients();
  }

 private:
  [[nodiscard]] static std::vector<tensor_shape> shapes(knobs const& chosen) {
    std::vector<tensor_shape> all{{1, 1}};
    if (chosen.dense_width > 0) {
      all.push_back({chosen.dense_width, 1});
    }
    return all;
  }

  knobs knobs_;
  tensors parameters_;
  workspace own_;
};
static_assert(network<logistic_regression>);

}  // namespace inlay::inline INLAY_ABI
