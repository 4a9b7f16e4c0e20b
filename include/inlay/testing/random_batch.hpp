#pragma once

#include <inlay/batch/batch.hpp>
#include <inlay/core/random.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace inlay::inline INLAY_ABI::testing {

/// Whether the ids of random bags have weights.
enum class bag_weights {
  none,   ///< every id counts one
  random  ///< in [0.25, 1.25), one of eight is zero
};

/// What random batches are drawn from.
struct random_batch_shape {
  std::size_t rows = 1;                     ///< samples
  std::size_t fields = 1;                   ///< bags a row
  std::size_t dense_width = 0;              ///< dense features
  std::size_t most_ids = 4;                 ///< in a bag; the least is none
  raw_id distinct = 100;                    ///< ids are below this, low ones more often
  bag_weights weights = bag_weights::none;  ///< of ids
};

/// A multi-hot batch that depends on shape and seed alone: empty bags, repeated ids, labels 0 or 1.
[[nodiscard]] inline batch random_batch(random_batch_shape const& shape, std::uint64_t seed) {
  random_stream const random{mix(seed)};
  std::uint64_t draw = 0;
  batch result;
  result.reset_bags({shape.rows, shape.fields, shape.dense_width});
  std::vector<raw_id> ids;
  std::vector<float> weights;
  for (std::size_t bag = 0; bag < shape.rows * shape.fields; ++bag) {
    ids.resize(random.bits(draw++) % (shape.most_ids + 1));
    weights.resize(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) {
      auto const skewed = std::pow(random.uniform_double(draw++), 3.0);
      ids[i] = static_cast<raw_id>(skewed * static_cast<double>(shape.distinct));
      auto const zero = random.bits(draw++) % 8 == 0;
      weights[i] = zero ? 0.0F : 0.25F + random.uniform(draw++);
    }
    if (shape.weights == bag_weights::none) {
      result.add_bag({ids.data(), ids.size()});
    } else {
      result.add_bag({ids.data(), ids.size()}, {weights.data(), weights.size()});
    }
  }
  for (std::size_t row = 0; row < shape.rows; ++row) {
    result.labels()[row] = static_cast<float>(random.bits(draw++) % 2);
    for (auto& feature : result.dense().row(row)) {
      feature = random.normal(draw++);
    }
  }
  return result;
}

}  // namespace inlay::inline INLAY_ABI::testing
