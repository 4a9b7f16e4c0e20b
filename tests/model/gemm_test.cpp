#include <inlay/model/gemm.hpp>

#include <inlay/core/error.hpp>
#include <inlay/core/random.hpp>
#include <inlay/model/mlp.hpp>
#include <inlay/model/restride.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

struct stored {
  stored(std::size_t rows, std::size_t cols, std::uint64_t seed) : values(1 + rows * (cols + 2)) {
    inlay::random_stream const stream{seed};
    for (std::size_t at = 0; at < values.size(); ++at) {
      values[at] = stream.normal(at);
    }
    view = {values.data() + 1, rows, cols, cols + 2};  // off the line, with gaps
  }

  std::vector<float> values;
  inlay::matrix_view<float> view;
};

}  // namespace

TEST_CASE("add_product equals the sum of products, in all three forms and at odd shapes") {
  inlay::gemm_workspace memory;
  for (std::size_t const rows : {0U, 1U, 3U, 128U, 300U}) {
    for (std::size_t const depth : {0U, 1U, 7U, 403U, 1100U}) {
      for (std::size_t const cols : {1U, 5U, 48U, 400U}) {
        CAPTURE(rows);
        CAPTURE(depth);
        CAPTURE(cols);
        stored const a(rows, depth, 1);
        stored const b(depth, cols, 2);
        stored a_turned(depth, rows, 3);
        stored b_turned(cols, depth, 4);
        stored const start(rows, cols, 5);
        std::vector<double> expected(rows * cols);
        for (std::size_t r = 0; r < rows; ++r) {
          for (std::size_t k = 0; k < depth; ++k) {
            a_turned.view.row(k)[r] = a.view.row(r)[k];
          }
        }
        for (std::size_t k = 0; k < depth; ++k) {
          for (std::size_t c = 0; c < cols; ++c) {
            b_turned.view.row(c)[k] = b.view.row(k)[c];
          }
        }
        for (std::size_t r = 0; r < rows; ++r) {
          for (std::size_t c = 0; c < cols; ++c) {
            expected[r * cols + c] = start.view.row(r)[c];
          }
          for (std::size_t k = 0; k < depth; ++k) {
            for (std::size_t c = 0; c < cols; ++c) {
              expected[r * cols + c] += static_cast<double>(a.view.row(r)[k]) * b.view.row(k)[c];
            }
          }
        }
        stored plain = stored(rows, cols, 5);
        stored left = stored(rows, cols, 5);
        stored right = stored(rows, cols, 5);
        inlay::add_product(a.view, b.view, plain.view, memory);
        inlay::add_product(inlay::transposed{a_turned.view}, b.view, left.view, memory);
        inlay::add_product(a.view, inlay::transposed{b_turned.view}, right.view, memory);
        auto worst = 0.0;
        for (std::size_t r = 0; r < rows; ++r) {
          for (std::size_t c = 0; c < cols; ++c) {
            for (auto const* const got : {&plain, &left, &right}) {
              worst = std::fmax(worst, std::abs(got->view.row(r)[c] - expected[r * cols + c]));
            }
          }
        }
        // Rounding of a sum of `depth` products of size one, each a step of a random walk.
        CHECK(worst <= 1e-6 * (1 + static_cast<double>(depth)));
      }
    }
  }
}

TEST_CASE("add_product leaves the gaps between rows alone") {
  inlay::gemm_workspace memory;
  stored const a(5, 6, 1);
  stored const b(6, 7, 2);
  stored c(5, 7, 3);
  auto const before = c.values;
  inlay::add_product(a.view, b.view, c.view, memory);
  CHECK(c.values[0] == before[0]);
  for (std::size_t r = 0; r < 5; ++r) {
    for (std::size_t gap = 7; gap < 9; ++gap) {
      CHECK(c.view.data[r * 9 + gap] == before[1 + r * 9 + gap]);
    }
  }
}

TEST_CASE("add_product refuses shapes that do not agree") {
  inlay::gemm_workspace memory;
  stored const a(2, 3, 1);
  stored const b(4, 5, 2);
  stored c(2, 5, 3);
  CHECK_THROWS_AS(inlay::add_product(a.view, b.view, c.view, memory), inlay::error);
}

TEST_CASE("restride copies vectors and touches nothing beyond the last one") {
  for (std::size_t const width : {1U, 2U, 15U, 16U, 17U, 31U, 40U}) {
    for (std::size_t const count : {1U, 2U, 5U, 26U}) {
      CAPTURE(width);
      CAPTURE(count);
      // Exactly as long as they must be, so that a sanitizer sees one float too many.
      std::vector<float> from((count - 1) * (width + 1) + width);
      std::vector<float> to(count * width);
      for (std::size_t at = 0; at < from.size(); ++at) {
        from[at] = static_cast<float>(at);
      }
      inlay::restride(from.data(), width + 1, to.data(), width, width, count);
      bool right = true;
      for (std::size_t at = 0; at < to.size(); ++at) {
        right = right && to[at] == static_cast<float>(at / width * (width + 1) + at % width);
      }
      CHECK(right);
    }
  }
}

TEST_CASE("mlp: initial weights have the variance of He et al.") {
  inlay::mlp const layers(200, {300});
  inlay::tensors parameters(layers.shapes());
  layers.initialise(parameters.views(), 11);
  double sum = 0;
  double squares = 0;
  for (double const weight : parameters.values(0)) {
    sum += weight;
    squares += weight * weight;
  }
  auto const count = 200.0 * 300.0;
  CHECK(std::abs(sum / count) < 0.002);
  CHECK(squares / count == doctest::Approx(2.0 / 200).epsilon(0.03));
}
