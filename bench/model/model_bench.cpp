#include <inlay/core/random.hpp>
#include <inlay/model/auc.hpp>
#include <inlay/model/deepfm.hpp>
#include <inlay/model/dlrm.hpp>
#include <inlay/model/dot_interactions.hpp>
#include <inlay/model/gemm.hpp>
#include <inlay/model/log_loss.hpp>
#include <inlay/model/logistic_regression.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <limits>
#include <span>
#include <vector>

// What a step of a dense network costs on one core, and how much of Eigen's GEMM it reaches:
// `ratio` is GFLOP/s over those of bare products of the same sizes, timed in the same process just
// before.

namespace {

constexpr std::size_t fields = 26;
constexpr std::size_t dim = 16;
constexpr std::size_t dense_width = 13;
constexpr std::array<std::size_t, 2> hidden = {128, 64};
constexpr std::array<std::size_t, 2> bottom = {64, dim};  // DLRM's
constexpr std::size_t vectors = fields + 1;               // that interact in DLRM
constexpr std::size_t pairs = vectors * (vectors - 1) / 2;

std::vector<float> random_values(std::size_t count, std::uint64_t seed) {
  std::vector<float> values(count);
  inlay::random_stream const stream{seed};
  for (std::size_t at = 0; at < count; ++at) {
    values[at] = 0.1F * stream.normal(at);
  }
  return values;
}

struct batch {
  explicit batch(std::size_t row_count, std::size_t pooled_width)
      : rows(row_count),
        pooled(random_values(rows * pooled_width, 1)),
        dense(random_values(rows * dense_width, 2)),
        labels(random_values(rows, 3)),
        pooled_view(pooled.data(), rows, pooled_width),
        dense_view(dense.data(), rows, dense_width) {
    for (auto& label : labels) {
      label = label > 0 ? 1.0F : 0.0F;
    }
  }

  std::size_t rows;
  std::vector<float> pooled;
  std::vector<float> dense;
  std::vector<float> labels;
  inlay::matrix_view<float const> pooled_view;
  inlay::matrix_view<float const> dense_view;
};

using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

matrix random_matrix(std::size_t rows, std::size_t cols) {
  return matrix::Random(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols));
}

/// The products of a network's step, by Eigen's public interface alone.
class bare_products {
 public:
  /// Those of a DeepFM.
  [[nodiscard]] static bare_products of_deepfm(std::size_t rows) {
    bare_products all;
    all.add_layers(rows, fields * (dim - 1) + dense_width, hidden);
    return all;
  }

  /// Those of the dot products of a DLRM: for each row the square of all pairs, and back one
  /// product with a square that is symmetric already.
  [[nodiscard]] static bare_products of_interactions(std::size_t rows) {
    bare_products all;
    for (std::size_t row = 0; row < rows; ++row) {
      all.rows_.push_back(random_matrix(vectors, dim));
      all.row_gradients_.push_back(random_matrix(vectors, dim));
    }
    all.square_ = random_matrix(vectors, vectors);
    all.flops_ = 3 * 2 * static_cast<double>(rows * pairs * dim);  // each pair once, and twice back
    return all;
  }

  /// Those of a DLRM.
  [[nodiscard]] static bare_products of_dlrm(std::size_t rows) {
    auto all = of_interactions(rows);
    all.add_layers(rows, dense_width, bottom);
    all.add_layers(rows, dim + pairs, hidden);
    return all;
  }

  [[nodiscard]] double flops() const { return flops_; }

  void run() {
    for (auto const& row : rows_) {
      square_.noalias() = row * row.transpose();
      benchmark::DoNotOptimize(square_.data());
    }
    for (std::size_t row = 0; row < rows_.size(); ++row) {
      row_gradients_[row].noalias() = square_ * rows_[row];
      benchmark::DoNotOptimize(row_gradients_[row].data());
    }
    for (auto& [x, weights, y] : layers_) {
      y.noalias() = x * weights;
      benchmark::DoNotOptimize(y.data());
    }
    for (auto& [x, weights, y] : layers_) {
      weights.noalias() = x.transpose() * y;
      x.noalias() = y * weights.transpose();
      weights *= 1e-6F;  // else the values grow to infinity from round to round
      x *= 1e-6F;
      benchmark::DoNotOptimize(x.data());
    }
  }

  /// FLOP/s of the best round, in time of this process: the machine may be shared.
  [[nodiscard]] double flops_per_second() {
    auto best = std::numeric_limits<double>::infinity();
    for (int round = 0; round < 30; ++round) {
      auto const start = std::clock();
      run();
      best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    }
    return flops_ / best;
  }

 private:
  struct layer {
    matrix x;
    matrix weights;
    matrix y;
  };

  void add_layers(std::size_t rows, std::size_t inputs, std::span<std::size_t const> widths) {
    for (auto const outputs : widths) {
      layers_.push_back({random_matrix(rows, inputs), random_matrix(inputs, outputs),
                         random_matrix(rows, outputs)});
      flops_ += 3 * 2 * static_cast<double>(rows * inputs * outputs);
      inputs = outputs;
    }
  }

  std::vector<layer> layers_;
  std::vector<matrix> rows_;  // (vectors, dim)
  std::vector<matrix> row_gradients_;
  matrix square_;  // (vectors, vectors)
  double flops_ = 0;
};

void report(benchmark::State& state, std::size_t rows, double flops, double bare) {
  auto const steps = static_cast<double>(state.iterations());
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows));
  state.counters["gflops"] = benchmark::Counter(steps * flops * 1e-9, benchmark::Counter::kIsRate);
  state.counters["ratio"] = benchmark::Counter(steps * flops / bare, benchmark::Counter::kIsRate);
}

inlay::deepfm deepfm() {
  return inlay::deepfm({.fields = fields,
                        .dim = dim,
                        .dense_width = dense_width,
                        .hidden = {hidden.begin(), hidden.end()}});
}

inlay::dlrm dlrm() {
  return inlay::dlrm({.fields = fields,
                      .dim = dim,
                      .dense_width = dense_width,
                      .bottom = {bottom.begin(), bottom.end() - 1},
                      .top = {hidden.begin(), hidden.end()}});
}

template <class Network>
void step(benchmark::State& state, Network network, bare_products bare) {
  auto const rows = static_cast<std::size_t>(state.range(0));
  auto const bare_rate = bare.flops_per_second();
  batch const data(rows, fields * dim);
  inlay::log_loss loss;
  for (auto _ : state) {
    auto const logits = network.forward(data.pooled_view, data.dense_view);
    auto const gradient =
        network.backward(loss(logits, {inlay::span<float const>(data.labels), {}}));
    benchmark::DoNotOptimize(gradient.data);
  }
  report(state, rows, bare.flops(), bare_rate);
}

void deepfm_step(benchmark::State& state) {
  step(state, deepfm(), bare_products::of_deepfm(static_cast<std::size_t>(state.range(0))));
}

void dlrm_step(benchmark::State& state) {
  step(state, dlrm(), bare_products::of_dlrm(static_cast<std::size_t>(state.range(0))));
}

template <class Network>
void forward(benchmark::State& state, Network network, bare_products bare) {
  auto const rows = static_cast<std::size_t>(state.range(0));
  auto const bare_rate = bare.flops_per_second();
  batch const data(rows, fields * dim);
  for (auto _ : state) {
    auto const logits = network.forward(data.pooled_view, data.dense_view);
    benchmark::DoNotOptimize(logits.data());
  }
  report(state, rows, bare.flops() / 3, bare_rate);
}

void deepfm_forward(benchmark::State& state) {
  forward(state, deepfm(), bare_products::of_deepfm(static_cast<std::size_t>(state.range(0))));
}

void dlrm_forward(benchmark::State& state) {
  forward(state, dlrm(), bare_products::of_dlrm(static_cast<std::size_t>(state.range(0))));
}

void dot_interactions(benchmark::State& state) {
  auto const rows = static_cast<std::size_t>(state.range(0));
  auto bare = bare_products::of_interactions(rows);
  auto const bare_rate = bare.flops_per_second();
  batch const data(rows, fields * dim);
  auto const made = random_values(rows * dim, 5);
  inlay::dot_interactions const block(vectors, dim);
  inlay::dot_interactions::scratch memory;
  inlay::aligned_matrix products(rows, pairs);
  inlay::aligned_matrix gradients(rows, fields * dim);
  std::vector<float> made_gradients(dim);
  for (auto _ : state) {
    for (std::size_t row = 0; row < rows; ++row) {
      block.forward(data.pooled_view.row(row), {made.data() + row * dim, dim}, memory,
                    products.view().row(row));
    }
    for (std::size_t row = 0; row < rows; ++row) {
      block.backward(data.pooled_view.row(row), {made.data() + row * dim, dim},
                     products.view().row(row), memory, gradients.view().row(row), made_gradients);
    }
    benchmark::DoNotOptimize(gradients.view().data);
  }
  report(state, rows, bare.flops(), bare_rate);
}

void logistic_regression_step(benchmark::State& state) {
  auto const rows = static_cast<std::size_t>(state.range(0));
  batch const data(rows, fields);
  inlay::logistic_regression network({.fields = fields, .dense_width = dense_width});
  inlay::log_loss loss;
  for (auto _ : state) {
    auto const logits = network.forward(data.pooled_view, data.dense_view);
    auto const gradient =
        network.backward(loss(logits, {inlay::span<float const>(data.labels), {}}));
    benchmark::DoNotOptimize(gradient.data);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void log_loss_rows(benchmark::State& state) {
  auto const rows = static_cast<std::size_t>(state.range(0));
  batch const data(rows, fields);
  auto const logits = random_values(rows, 4);
  inlay::log_loss loss;
  for (auto _ : state) {
    auto const result =
        loss(inlay::span<float const>(logits), {inlay::span<float const>(data.labels), {}});
    benchmark::DoNotOptimize(result.sum);
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

void auc_rows(benchmark::State& state) {
  auto const rows = static_cast<std::size_t>(state.range(0));
  batch const data(rows, fields);
  auto const scores = random_values(rows, 4);
  for (auto _ : state) {
    benchmark::DoNotOptimize(
        inlay::auc(inlay::span<float const>(scores), inlay::span<float const>(data.labels)));
  }
  state.SetItemsProcessed(state.iterations() * state.range(0));
}

}  // namespace

BENCHMARK(deepfm_step)
    ->Name("model/deepfm/step")
    ->ArgName("rows")
    ->RangeMultiplier(2)
    ->Range(128, 8192);
BENCHMARK(deepfm_forward)->Name("model/deepfm/forward")->ArgName("rows")->Arg(128)->Arg(1024);
BENCHMARK(dlrm_step)
    ->Name("model/dlrm/step")
    ->ArgName("rows")
    ->RangeMultiplier(8)
    ->Range(128, 8192);
BENCHMARK(dlrm_forward)->Name("model/dlrm/forward")->ArgName("rows")->Arg(128)->Arg(1024);
BENCHMARK(dot_interactions)->Name("model/dot_interactions/step")->ArgName("rows")->Arg(128);
BENCHMARK(logistic_regression_step)
    ->Name("model/logistic_regression/step")
    ->ArgName("rows")
    ->Arg(128)
    ->Arg(1024);
BENCHMARK(log_loss_rows)->Name("model/log_loss")->ArgName("rows")->Arg(1024);
BENCHMARK(auc_rows)->Name("model/auc")->ArgName("rows")->Arg(100000);
