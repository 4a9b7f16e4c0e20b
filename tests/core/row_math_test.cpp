#include <inlay/core/row_math.hpp>

#include <inlay/core/random.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

namespace {

constexpr std::size_t most_columns = 70;

// One compiled body for all widths, as in a kernel. Inlined beside other arithmetic, a compiler
// that may contract a * b + c into one rounding does so in one place and not in the other.
[[gnu::noinline]] void add(float* into, float const* row, std::size_t dim) {
  inlay::add(into, row, dim);
}
[[gnu::noinline]] void add(float* into, float const* row, float factor, std::size_t dim) {
  inlay::add(into, row, factor, dim);
}
[[gnu::noinline]] void scale(float* row, float factor, std::size_t dim) {
  inlay::scale(row, factor, dim);
}
[[gnu::noinline]] float sum_of_squares(float const* row, std::size_t dim) {
  return inlay::sum_of_squares(row, dim);
}

std::vector<float> random_row(std::size_t dim, std::uint64_t seed) {
  std::vector<float> row(dim);
  for (std::size_t i = 0; i < dim; ++i) {
    row[i] = inlay::random_stream{seed}.normal(i);
  }
  return row;
}

/// Runs body(dim, offset) for every width and for rows that begin anywhere in a vector register.
template <class Body>
void each_shape(Body const& body) {
  for (std::size_t dim = 0; dim <= most_columns; ++dim) {
    for (std::size_t offset = 0; offset < 4; ++offset) {
      CAPTURE(dim);
      CAPTURE(offset);
      body(dim, offset);
    }
  }
}

}  // namespace

TEST_CASE("row_math: a column's result does not depend on the width, and nothing else is written") {
  auto const a = random_row(most_columns + 8, 1);
  auto const b = random_row(most_columns + 8, 2);
  each_shape([&](std::size_t dim, std::size_t offset) {
    auto sum = a;
    add(sum.data() + offset, b.data() + offset, dim);
    auto scaled_sum = a;
    add(scaled_sum.data() + offset, b.data() + offset, 0.37F, dim);
    auto scaled = a;
    scale(scaled.data() + offset, 0.37F, dim);
    for (std::size_t i = 0; i < a.size(); ++i) {
      bool const within = i >= offset && i < offset + dim;
      float one[3] = {a[i], a[i], a[i]};
      if (within) {
        add(&one[0], &b[i], 1);
        add(&one[1], &b[i], 0.37F, 1);
        scale(&one[2], 0.37F, 1);
      }
      CHECK(sum[i] == one[0]);
      CHECK(scaled_sum[i] == one[1]);
      CHECK(scaled[i] == one[2]);
      if (within) {
        CHECK(sum[i] == a[i] + b[i]);
        CHECK(scaled_sum[i] == doctest::Approx(a[i] + 0.37F * b[i]).epsilon(1e-5));
      }
    }
  });
}

TEST_CASE("row_math: a sum of squares is right, and padding a row with zeros gives the same bits") {
  auto const row = random_row(most_columns + 8, 3);
  each_shape([&](std::size_t dim, std::size_t offset) {
    auto const result = sum_of_squares(row.data() + offset, dim);
    double exact = 0;
    std::vector<float> padded(dim + 16, 0.0F);
    for (std::size_t i = 0; i < dim; ++i) {
      exact += static_cast<double>(row[offset + i]) * static_cast<double>(row[offset + i]);
      padded[i] = row[offset + i];
    }
    CHECK(static_cast<double>(result) == doctest::Approx(exact).epsilon(1e-6));
    for (std::size_t more = 0; more <= 16; ++more) {
      CHECK(sum_of_squares(padded.data(), dim + more) == result);
    }
  });
}

TEST_CASE("row_math: all_finite finds a NaN or an infinity in any column, and nothing else") {
  constexpr auto inf = std::numeric_limits<float>::infinity();
  constexpr auto nan = std::numeric_limits<float>::quiet_NaN();
  constexpr auto largest = std::numeric_limits<float>::max();
  for (std::size_t dim = 0; dim <= most_columns; ++dim) {
    std::vector<float> row(dim, largest);  // finite, though its sum is not
    CHECK(inlay::all_finite(row.data(), dim));
    for (std::size_t i = 0; i < dim; ++i) {
      CAPTURE(dim);
      CAPTURE(i);
      for (float const bad : {inf, -inf, nan, -nan}) {
        row[i] = bad;
        CHECK_FALSE(inlay::all_finite(row.data(), dim));
      }
      row[i] = -largest;
      CHECK(inlay::all_finite(row.data(), dim));
      row[i] = std::numeric_limits<float>::denorm_min();
    }
    CHECK(inlay::all_finite(row.data(), dim));
  }
  float const both[] = {inf, -inf};
  CHECK_FALSE(inlay::all_finite(both, 2));
}
