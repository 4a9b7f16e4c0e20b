#include <inlay/engine/engine.hpp>

#include <inlay/batch/batch.hpp>
#include <inlay/cache/lru.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/core/random.hpp>
#include <inlay/optim/adagrad.hpp>
#include <inlay/optim/sgd.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

// A small training from end to end in every build: g++ alone, Thrust on the CPU, and nvcc.

namespace {

constexpr std::size_t fields = 3;
constexpr std::size_t dim = 4;
constexpr std::size_t rows = 300;

/// Clicks that depend on the ids: each id has a taste of its own, and tastes add up.
inlay::batch clicks(std::uint64_t seed) {
  inlay::random_stream const random{inlay::mix(seed)};
  inlay::batch result;
  result.reset({rows, fields, 1});
  for (std::size_t row = 0; row < rows; ++row) {
    float taste = 0.0F;
    for (std::size_t field = 0; field < fields; ++field) {
      auto const id = random.bits(fields * row + field) % 50;
      result.ids()[field * rows + row] = id;
      taste += inlay::random_stream{1000 + field}.normal(id);
    }
    result.dense().row(row)[0] = 1.0F;
    result.labels()[row] = taste > 0.0F ? 1.0F : 0.0F;
  }
  return result;
}

/// Logistic regression over all columns: trains one chunk, returns its summed loss.
struct linear_network {
  std::vector<float> weights = std::vector<float>(fields * dim + 1, 0.3F);
  std::vector<float> slopes = std::vector<float>(fields * dim + 1);
  std::vector<float> pooled_slopes = {};

  template <class Chunk>
  double train(Chunk const& chunk) {
    auto const width = fields * dim;
    auto const labels = chunk.labels();
    double loss = 0.0;
    slopes.assign(width + 1, 0.0F);
    pooled_slopes.assign(chunk.rows() * width, 0.0F);
    for (std::size_t row = 0; row < chunk.rows(); ++row) {
      auto const x = chunk.pooled().row(row);
      auto const bias = chunk.dense().row(row)[0];
      auto logit = weights[width] * bias;
      for (std::size_t c = 0; c < width; ++c) {
        logit += weights[c] * x[c];
      }
      auto const counts = labels.weights.empty() ? 1.0F : labels.weights[row];
      auto const label = labels.values[row];
      loss += double{counts} *
              (std::log1p(std::exp(-std::abs(logit))) + std::fmax(logit, 0.0F) - logit * label);
      auto const slope = counts * (1.0F / (1.0F + std::exp(-logit)) - label);
      slopes[width] += slope * bias;
      for (std::size_t c = 0; c < width; ++c) {
        slopes[c] += slope * x[c];
        pooled_slopes[row * width + c] = slope * weights[c];
      }
    }
    chunk.backward({pooled_slopes.data(), chunk.rows(), width});
    return loss;
  }
};

struct run_result {
  double first_loss = 0.0;
  double last_loss = 0.0;
  double seen = 0.0;  // a sum over looked-up embeddings
  std::vector<float> weights = {};
  inlay::report figures = {};
};

template <class Parts>
run_result train(Parts const& parts, std::size_t cache_rows) {
  auto shape = inlay::shape::one_table_per_field(fields, dim);
  shape.cache_rows = cache_rows;
  shape.seed = 3;
  inlay::engine<Parts> trainer{shape, parts};
  linear_network net;
  inlay::matrix_view<float> const values{net.weights.data(), 1, net.weights.size()};
  inlay::matrix_view<float const> const slopes{net.slopes.data(), 1, net.slopes.size()};
  trainer.attach({&values, 1}, {&slopes, 1});
  run_result result;
  for (std::uint64_t number = 0; number < 60; ++number) {
    auto const content = clicks(number % 6);
    auto step = trainer.begin(content.view());
    double loss = 0.0;
    for (auto chunk : step.chunks()) {
      loss += net.train(chunk);
    }
    trainer.finish(std::move(step));
    (number == 0 ? result.first_loss : result.last_loss) = loss / rows;
  }
  auto const content = clicks(99);
  auto const looked = trainer.lookup(content.view());
  for (std::size_t row = 0; row < rows; ++row) {
    for (auto const value : looked.pooled.row(row)) {
      result.seen += double{value};
    }
  }
  trainer.flush();
  result.weights = net.weights;
  result.figures = trainer.figures();
  return result;
}

TEST_CASE("smoke: a model learns, cached and in place alike, in this build") {
  auto const rule = inlay::adagrad{.learning_rate = 0.1F, .initial_accumulator = 1e-4F};
  auto const in_place = train(
      inlay::parts{.exec = inlay::host_exec(2), .optimizer = rule, .sums = inlay::fixed_sums{}}, 0);
  MESSAGE("loss from " << in_place.first_loss << " to " << in_place.last_loss);
  CHECK(in_place.first_loss > 0.65);
  CHECK(in_place.last_loss < 0.3);
  CHECK(in_place.figures.table_rows == 150);
  using any_cache = inlay::one_of<inlay::lru, inlay::sieve>;
  for (auto const* const name : {"lru", "sieve"}) {
    auto const cached = train(inlay::parts{.exec = inlay::host_exec(1),
                                           .cache = any_cache::named(name),
                                           .optimizer = rule,
                                           .sums = inlay::fixed_sums{}},
                              150);
    CHECK(cached.weights == in_place.weights);
    CHECK(cached.seen == in_place.seen);
    CHECK(cached.last_loss == in_place.last_loss);
  }
}

TEST_CASE("smoke: defaults train") {
  auto const result = train(inlay::parts{}, 0);
  CHECK(result.last_loss < result.first_loss);
  CHECK(result.figures.steps == 60);
}

TEST_CASE("smoke: an error is a sentence in this build") {
  inlay::engine trainer{inlay::shape::one_table_per_field(fields, dim),
                        inlay::parts{.optimizer = inlay::sgd{}}};
  auto content = clicks(1);
  content.ids()[rows] = ~std::uint64_t{0};
  CHECK_THROWS_WITH_AS((void)trainer.begin(content.view()),
                       doctest::Contains("id 18446744073709551615 of field 1 does not fit"),
                       inlay::error);
}

}  // namespace
