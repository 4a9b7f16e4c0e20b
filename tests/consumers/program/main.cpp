// A program of somebody else's: it was built with nothing but the target that it links, trains a
// few steps behind a cache, and fails unless the loss falls.

#include "clicks.hpp"

#include <inlay/batch/gzip_bytes.hpp>
#include <inlay/cache/lru.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/optim/sgd.hpp>

#include <array>
#include <cstddef>
#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

// The version that CMake found is the version that the headers are.
static_assert(INLAY_VERSION_MAJOR == PACKAGE_MAJOR && INLAY_VERSION_MINOR == PACKAGE_MINOR &&
              INLAY_VERSION_PATCH == PACKAGE_PATCH);
static_assert(INLAY_HAS_THRUST == LINKS_EMULATED && INLAY_HAS_CUDA == 0);
static_assert(INLAY_HAS_ZLIB == LINKS_ZLIB);

#if LINKS_EMULATED
#include <thrust/device_vector.h>
#include <thrust/reduce.h>

static float sum(std::vector<float> const& values) {
  thrust::device_vector<float> const copied(values.begin(), values.end());
  return thrust::reduce(copied.begin(), copied.end());
}
#else
static float sum(std::vector<float> const& values) {
  return std::accumulate(values.begin(), values.end(), 0.0F);
}
#endif

int main() {
  // Links what unpacks files, where that was asked for.
  std::array<char, 1> byte{};
  if (inlay::open_bytes("/dev/null")->read(byte) != 0) return 1;

  auto const clicks = some_clicks();
  auto shape = inlay::shape::one_table_per_field(clicks.shape().fields, 1);
  shape.cache_rows = 2000;
  inlay::engine trainer{
      shape, inlay::parts{.cache = inlay::lru{}, .optimizer = inlay::sgd{.learning_rate = 0.1F}}};
  float first = 0;
  float last = 0;
  for (int number = 0; number < 20; ++number) {
    auto step = trainer.begin(clicks.view());
    std::vector<float> losses;
    for (auto chunk : step.chunks()) {
      auto const pooled = chunk.pooled();
      std::vector<float> gradient(pooled.rows * pooled.cols);
      for (std::size_t row = 0; row < pooled.rows; ++row) {
        auto const columns = pooled.row(row);
        auto const error =
            std::accumulate(columns.begin(), columns.end(), 0.0F) - chunk.labels().values[row];
        losses.push_back(error * error / 2);
        for (std::size_t column = 0; column < pooled.cols; ++column) {
          gradient[row * pooled.cols + column] = error;
        }
      }
      chunk.backward({gradient.data(), pooled.rows, pooled.cols});
    }
    trainer.finish(std::move(step));
    last = sum(losses);
    if (number == 0) first = last;
  }
  std::printf("loss %g, then %g\n", first, last);
  return last < first / 2 ? 0 : 1;
}
