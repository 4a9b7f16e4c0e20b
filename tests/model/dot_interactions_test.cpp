#include <inlay/model/dot_interactions.hpp>

#include <inlay/core/random.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace {

std::vector<float> random_values(std::size_t count, std::uint64_t seed) {
  inlay::random_stream const stream{seed};
  std::vector<float> values(count);
  for (std::size_t at = 0; at < count; ++at) {
    values[at] = stream.normal(at);
  }
  return values;
}

/// Some vectors, cut in two pieces, and what is made of them.
struct trial {
  trial(std::size_t vectors, std::size_t dim, std::size_t in_row)
      : block(vectors, dim),
        row(random_values(in_row * dim, 1)),
        more(random_values((vectors - in_row) * dim, 2)),
        products(block.pairs(), 77.0F),
        product_gradients(random_values(block.pairs(), 3)),
        row_gradients(row.size(), 77.0F),
        more_gradients(more.size(), 77.0F) {
    all = row;
    all.insert(all.end(), more.begin(), more.end());
  }

  void run() {
    block.forward(row, more, memory, products);
    block.backward(row, more, product_gradients, memory, row_gradients, more_gradients);
  }

  inlay::dot_interactions block;
  inlay::dot_interactions::scratch memory;
  std::vector<float> row;
  std::vector<float> more;
  std::vector<float> all;
  std::vector<float> products;
  std::vector<float> product_gradients;
  std::vector<float> row_gradients;
  std::vector<float> more_gradients;
};

void check(std::size_t vectors, std::size_t dim, std::size_t in_row) {
  CAPTURE(vectors);
  CAPTURE(dim);
  CAPTURE(in_row);
  trial one(vectors, dim, in_row);
  one.run();
  // |error| <= terms x 2^-24 x the sum of the terms' magnitudes.
  constexpr auto unit = 0x1p-24;
  std::vector<double> gradients(one.all.size());
  std::vector<double> magnitudes(one.all.size());
  std::size_t pair = 0;
  for (std::size_t f = 0; f < vectors; ++f) {
    for (std::size_t g = 0; g < f; ++g, ++pair) {
      double sum = 0;
      double magnitude = 0;
      for (std::size_t k = 0; k < dim; ++k) {
        double const of_f = one.all[f * dim + k];
        double const of_g = one.all[g * dim + k];
        double const gradient = one.product_gradients[pair];
        sum += of_f * of_g;
        magnitude += std::abs(of_f * of_g);
        gradients[f * dim + k] += gradient * of_g;
        gradients[g * dim + k] += gradient * of_f;
        magnitudes[f * dim + k] += std::abs(gradient * of_g);
        magnitudes[g * dim + k] += std::abs(gradient * of_f);
      }
      CHECK(std::abs(one.products[pair] - sum) <= static_cast<double>(dim) * unit * magnitude);
    }
  }
  REQUIRE(pair == one.products.size());
  auto found = one.row_gradients;
  found.insert(found.end(), one.more_gradients.begin(), one.more_gradients.end());
  for (std::size_t at = 0; at < found.size(); ++at) {
    CHECK(std::abs(found[at] - gradients[at]) <=
          static_cast<double>(vectors) * unit * magnitudes[at]);
  }
}

}  // namespace

TEST_CASE("dot interactions: products and their gradients are those of the plain loops") {
  for (std::size_t const vectors : {1U, 2U, 3U, 4U, 5U, 15U, 16U, 17U, 27U, 32U, 33U, 49U}) {
    for (std::size_t const dim : {1U, 3U, 4U, 8U, 15U, 16U, 17U, 40U}) {
      check(vectors, dim, vectors);
      check(vectors, dim, vectors - 1);
      check(vectors, dim, vectors / 2);
    }
  }
}

TEST_CASE("dot interactions: where the vectors lie and what memory held change no bit") {
  trial one(27, 15, 26);
  one.run();
  trial other(27, 15, 13);
  trial before(40, 9, 40);
  before.run();
  other.memory = std::move(before.memory);
  std::copy(one.row.begin(), one.row.begin() + 13 * 15, other.row.begin());
  std::copy(one.row.begin() + 13 * 15, one.row.end(), other.more.begin());
  std::copy(one.more.begin(), one.more.end(), other.more.end() - 15);
  other.run();
  CHECK((one.products == other.products));
  CHECK(std::equal(other.row_gradients.begin(), other.row_gradients.end(),
                   one.row_gradients.begin()));
  CHECK(std::equal(one.more_gradients.begin(), one.more_gradients.end(),
                   other.more_gradients.end() - 15));
}

TEST_CASE("dot interactions: a vector that is not finite spoils its own pairs alone") {
  for (auto const poison :
       {std::numeric_limits<float>::quiet_NaN(), std::numeric_limits<float>::infinity()}) {
    trial one(20, 7, 20);
    one.row[4 * 7 + 2] = poison;
    one.run();
    std::size_t pair = 0;
    for (std::size_t f = 0; f < 20; ++f) {
      for (std::size_t g = 0; g < f; ++g, ++pair) {
        CHECK(std::isfinite(one.products[pair]) == (f != 4 && g != 4));
      }
    }
    for (std::size_t k = 0; k < 7; ++k) {
      CHECK(std::isfinite(one.row_gradients[4 * 7 + k]));
      CHECK(std::isfinite(one.row_gradients[5 * 7 + k]) == (k != 2));
    }
  }
}
