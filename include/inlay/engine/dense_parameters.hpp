#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/one_of.hpp>
#include <inlay/core/row_math.hpp>
#include <inlay/core/views.hpp>
#include <inlay/optim/update_rows.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// The parameters of a network that the engine trains beside its rows: same sums, same optimizer. A
/// tensor is a matrix, and its rows are what a row optimizer sees.
template <class Optimizer>
class dense_parameters {
 public:
  /// Where gradients are found.
  using gradient_views = span<matrix_view<float const> const>;

  /// Takes tensors that the caller owns, and where their gradients will be. Both stay where they
  /// are.
  void attach(Optimizer const& optimizer, span<matrix_view<float> const> parameters,
              gradient_views gradients) {
    expects(tensors_.empty(), "parameters are attached once");
    require_same_shapes(parameters, gradients);
    for (auto const& parameter : parameters) {
      auto const state_floats = inlay::visit(
          optimizer, [&](auto const& rule) { return rule.state_floats(parameter.cols); });
      tensor added{parameter, size_, state_floats, {}};
      added.state.resize(parameter.rows * state_floats);
      inlay::visit(optimizer, [&](auto const& rule) {
        for (std::size_t row = 0; row < parameter.rows && state_floats > 0; ++row) {
          rule.reset({added.state.data() + row * state_floats, state_floats});
        }
      });
      size_ += parameter.size();
      tensors_.push_back(std::move(added));
    }
    gradients_.assign(gradients.begin(), gradients.end());
  }

  /// Floats of all tensors together.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// As attached.
  [[nodiscard]] gradient_views gradients() const noexcept {
    return {gradients_.data(), gradients_.size()};
  }

  /// Copies gradients, of the attached shapes, behind one another. Throws if one is not finite.
  void keep(gradient_views gradients, float* into) const {
    expects(gradients.size() == tensors_.size(),
            "there must be one gradient for each attached parameter");
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      auto const& from = gradients[t];
      auto const& like = tensors_[t].values;
      expects(from.rows == like.rows && from.cols == like.cols,
              "a gradient must have the shape of its parameter");
      for (std::size_t row = 0; row < from.rows; ++row) {
        std::copy_n(from.row(row).data(), from.cols, into + tensors_[t].first + row * from.cols);
      }
      if (!all_finite(into + tensors_[t].first, from.size())) {
        fail("the gradient of attached parameter " + std::to_string(t) + " is not finite");
      }
    }
  }

  /// Adds the gradients of `chunks` chunks along the tree over their numbers, in place: the first
  /// chunk's become the sums. // chunk_gradients (chunks, size)
  void add_up(host_exec const& exec, float* chunk_gradients, std::size_t chunks) const {
    exec.for_pieces(size_, 4096, [&](std::size_t first, std::size_t last) {
      for (std::size_t reach = 1; reach < chunks; reach *= 2) {
        for (std::size_t chunk = 0; chunk + reach < chunks; chunk += 2 * reach) {
          add(chunk_gradients + chunk * size_ + first,
              chunk_gradients + (chunk + reach) * size_ + first, last - first);
        }
      }
    });
  }

  /// Multiplies sums by `factor`. Throws if one is not finite. // sums (size)
  void scale_sums(host_exec const& exec, float* sums, float factor) const {
    exec.for_pieces(size_, 4096, [&](std::size_t first, std::size_t last) {
      scale(sums + first, factor, last - first);
    });
    for (std::size_t t = 0; t < tensors_.size(); ++t) {
      if (!all_finite(sums + tensors_[t].first, tensors_[t].values.size())) {
        fail("the summed gradient of attached parameter " + std::to_string(t) + " is not finite");
      }
    }
  }

  /// Makes the gradient of all parameters together no longer than `longest`, in place, and returns
  /// by how much it was; at zero it may be of any length. The same bits on any number of threads.
  /// // sums (size)
  double clip(host_exec const& exec, float* sums, double longest) {
    if (longest == 0.0) return 0.0;
    constexpr std::size_t grain = 4096;
    square_sums_.resize((size_ + grain - 1) / grain);
    exec.for_pieces(size_, grain, [&](std::size_t first, std::size_t last) {
      double squares = 0.0;  // of floats, so in double none overflows
      for (auto i = first; i < last; ++i) {
        squares += double{sums[i]} * sums[i];
      }
      square_sums_[first / grain] = squares;
    });
    auto const norm = std::sqrt(std::accumulate(square_sums_.begin(), square_sums_.end(), 0.0));
    if (norm <= longest) return 0.0;
    exec.for_pieces(size_, grain, [&](std::size_t first, std::size_t last) {
      scale(sums + first, static_cast<float>(longest / norm), last - first);
    });
    return norm - longest;
  }

  /// Moves the parameters against `sums`. // (size)
  void apply(host_exec const& exec, Optimizer const& optimizer, float const* sums,
             update_context const& context) {
    inlay::visit(optimizer, [&](auto const& rule) {
      for (auto& each : tensors_) {
        exec.for_pieces(each.values.rows, 1 + 4096 / std::max<std::size_t>(each.values.cols, 1),
                        [&](std::size_t first, std::size_t last) {
                          update_piece(rule, each, first, last, sums + each.first, context);
                        });
      }
    });
  }

 private:
  struct tensor {
    matrix_view<float> values;
    std::size_t first;         // of its gradient, among all floats
    std::size_t state_floats;  // of a row
    buffer<float> state;       // (rows, state_floats)
  };

  template <class Rule>
  static void update_piece(Rule const& rule, tensor& each, std::size_t first, std::size_t last,
                           float const* sums, update_context const& context) {
    auto const cols = each.values.cols;
    while (first < last) {
      row_block block(cols, rule.state_floats(cols));
      for (; first < last && block.size < row_block::most; ++first) {
        block.add(each.values.row(first).data(), each.state.data() + first * each.state_floats,
                  sums + first * cols, context.rate_factor);
      }
      update_rows(rule, block, context.step);
    }
  }

  static void require_same_shapes(span<matrix_view<float> const> parameters,
                                  gradient_views gradients) {
    expects(parameters.size() == gradients.size(), "every attached parameter needs a gradient");
    for (std::size_t t = 0; t < parameters.size(); ++t) {
      if (parameters[t].rows != gradients[t].rows || parameters[t].cols != gradients[t].cols) {
        fail("attached parameter " + std::to_string(t) + " and its gradient differ in shape");
      }
    }
  }

  std::vector<tensor> tensors_;
  std::vector<matrix_view<float const>> gradients_;  // the caller's
  std::size_t size_ = 0;
  buffer<double> square_sums_;  // (pieces)
};

}  // namespace inlay::inline INLAY_ABI
