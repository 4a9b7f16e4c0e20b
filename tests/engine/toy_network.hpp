#pragma once

#include <inlay/core/random.hpp>
#include <inlay/core/views.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace toy {

/// What a chunk gives back.
struct gradients {
  std::vector<float> pooled;  // (rows, width)
  std::vector<float> square;  // (2, width)
  std::vector<float> linear;  // (1, dense + 1)
};

/// logit = Σ a_c x_c + Σ b_c x_c² + Σ d_k z_k + bias under log loss: enough of a network to tell
/// one gradient from another, and short enough to be right.
class network {
 public:
  network(std::size_t width, std::size_t dense_width)
      : width_(width), dense_width_(dense_width), square_(2 * width), linear_(dense_width + 1) {
    for (std::size_t i = 0; i < square_.size(); ++i) {
      square_[i] = 0.5F * inlay::random_stream{3}.normal(i);
    }
    for (std::size_t i = 0; i < linear_.size(); ++i) {
      linear_[i] = 0.2F * inlay::random_stream{4}.normal(i);
    }
    last_.square.resize(square_.size());
    last_.linear.resize(linear_.size());
  }

  [[nodiscard]] std::vector<float> const& square() const { return square_; }
  [[nodiscard]] std::vector<float> const& linear() const { return linear_; }
  [[nodiscard]] std::vector<float> all() const {
    auto result = square_;
    result.insert(result.end(), linear_.begin(), linear_.end());
    return result;
  }
  [[nodiscard]] std::size_t width() const { return width_; }
  [[nodiscard]] std::size_t dense_width() const { return dense_width_; }

  template <class Engine>
  void attach_to(Engine& trainer) {
    std::array<inlay::matrix_view<float>, 2> const values{
        inlay::matrix_view<float>{square_.data(), 2, width_},
        inlay::matrix_view<float>{linear_.data(), 1, linear_.size()}};
    auto const slopes = views(last_);
    trainer.attach({values.data(), 2}, {slopes.data(), 2});
  }

  [[nodiscard]] static std::array<inlay::matrix_view<float const>, 2> views(gradients const& from) {
    return {inlay::matrix_view<float const>{from.square.data(), 2, from.square.size() / 2},
            inlay::matrix_view<float const>{from.linear.data(), 1, from.linear.size()}};
  }

  /// The gradients of the loss summed over a chunk's rows.
  template <class Chunk>
  void differentiate(Chunk const& chunk, gradients& into) const {
    into.pooled.assign(chunk.rows() * width_, 0.0F);
    into.square.assign(square_.size(), 0.0F);
    into.linear.assign(linear_.size(), 0.0F);
    auto const labels = chunk.labels();
    for (std::size_t row = 0; row < chunk.rows(); ++row) {
      auto const x = chunk.pooled().row(row);
      auto const z = chunk.dense().row(row);
      auto const weight = labels.weights.empty() ? 1.0F : labels.weights[row];
      auto const slope = weight * (1.0F / (1.0F + std::exp(-logit(x, z))) - labels.values[row]);
      for (std::size_t c = 0; c < width_; ++c) {
        into.square[c] += slope * x[c];
        into.square[width_ + c] += slope * x[c] * x[c];
        into.pooled[row * width_ + c] = slope * (square_[c] + 2.0F * square_[width_ + c] * x[c]);
      }
      for (std::size_t k = 0; k < dense_width_; ++k) {
        into.linear[k] += slope * z[k];
      }
      into.linear[dense_width_] += slope;
    }
  }

  /// One chunk, its gradients left where they were attached.
  template <class Chunk>
  void train(Chunk const& chunk) {
    differentiate(chunk, last_);
    chunk.backward({last_.pooled.data(), chunk.rows(), width_});
  }
  template <class Step>
  void train_all(Step const& step) {
    for (auto chunk : step.chunks()) {
      train(chunk);
    }
  }

  /// All chunks side by side, each worker in a workspace of its own.
  template <class Step>
  void train_side_by_side(Step const& step, std::size_t threads) const {
    std::vector<gradients> workspaces(threads);
    step.each_chunk([&](auto const& chunk, std::size_t worker) {
      auto& own = workspaces[worker];
      differentiate(chunk, own);
      auto const slopes = views(own);
      chunk.backward({own.pooled.data(), chunk.rows(), width_}, {slopes.data(), 2});
    });
  }

  /// The gradients of the last chunk, to be spoiled by tests.
  [[nodiscard]] gradients& last() { return last_; }

 private:
  [[nodiscard]] float logit(inlay::span<float const> x, inlay::span<float const> z) const {
    auto sum = linear_[dense_width_];
    for (std::size_t c = 0; c < width_; ++c) {
      sum += square_[c] * x[c] + square_[width_ + c] * x[c] * x[c];
    }
    for (std::size_t k = 0; k < dense_width_; ++k) {
      sum += linear_[k] * z[k];
    }
    return sum;
  }

  std::size_t width_;
  std::size_t dense_width_;
  std::vector<float> square_;  // (2, width)
  std::vector<float> linear_;  // (1, dense + 1)
  gradients last_;
};

}  // namespace toy
