#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/columns.hpp>
#include <inlay/core/views.hpp>
#include <inlay/model/linear_unit.hpp>
#include <inlay/model/restride.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace inlay::inline INLAY_ABI {

namespace detail {

/// As much of sixteen columns as a register holds. Loops over arrays of floats would do, if g++-12
/// did not turn some of them into code that is ten times slower than others that look the same.
#if INLAY_HAS_VECTORS && defined(__AVX__)
using lane_part = float __attribute__((vector_size(32)));
#elif INLAY_HAS_VECTORS
using lane_part = four_floats;
#else
using lane_part = float;
#endif

/// Sums of sixteen columns in several rows, in registers: the inside of a small matrix product.
template <std::size_t Rows>
class row_sums {
 public:
  /// Row i += factor(i) x columns.
  template <class Factor>
  void add(Factor const& factor, float const* columns) noexcept {
    for (std::size_t part = 0; part < parts; ++part) {
      lane_part values;
      std::memcpy(&values, columns + part * width, sizeof values);
      for (std::size_t row = 0; row < Rows; ++row) {
        sums_[row][part] += factor(row) * values;
      }
    }
  }

  /// The same in one row.
  void add(std::size_t row, float factor, float const* columns) noexcept {
    for (std::size_t part = 0; part < parts; ++part) {
      lane_part values;
      std::memcpy(&values, columns + part * width, sizeof values);
      sums_[row][part] += factor * values;
    }
  }

  void store(float* to, std::size_t stride) const noexcept {
    for (std::size_t row = 0; row < Rows; ++row) {
      std::memcpy(to + row * stride, &sums_[row], sizeof sums_[row]);
    }
  }

 private:
  static constexpr std::size_t width = sizeof(lane_part) / sizeof(float);
  static constexpr std::size_t parts = lanes / width;

  lane_part sums_[Rows][parts] = {};
};

}  // namespace detail

/// Dot products of all pairs of a row's vectors (Naumov et al. 2019, section 2.1.3): <v_f, v_g> for
/// g < f, row after row of a triangle: (1, 0), (2, 0), (2, 1), (3, 0) and so on.
///
/// A block for networks, called row by row while the row is in the first cache. The vectors come in
/// two pieces, for those of the fields and those that a network has made lie apart. Each sum has
/// one order for any row and any place.
class dot_interactions {
 public:
  /// Memory for the time of a call; one per thread.
  class scratch {
   private:
    friend class dot_interactions;

    /// Room for three matrices. What lies between their columns and the next line is read, and has
    /// no effect, but must not be what makes arithmetic slow.
    void make_room(std::size_t size) {
      if (memory_.size() != size) {
        memory_.assign(size, 0.0F);
      }
    }

    buffer<float> memory_;
  };

  /// So many vectors of so many columns.
  constexpr dot_interactions(std::size_t vectors, std::size_t dim) noexcept
      : vectors_(vectors), dim_(dim) {}

  /// How many pairs there are.
  [[nodiscard]] constexpr std::size_t pairs() const noexcept { return row_start(vectors_); }

  /// Writes the products of the vectors in `row` and `more`. // (vectors, dim) in both, (pairs)
  void forward(span<float const> row, span<float const> more, scratch& memory,
               span<float> products) const {
    memory.make_room((dim_ + padded(vectors_)) * padded(vectors_));
    auto* const columns = memory.memory_.data();             // (dim, vectors): transposed
    auto* const square = columns + dim_ * padded(vectors_);  // (vectors, vectors)
    transpose(row, columns);
    transpose(more, columns + row.size() / dim_);
    std::size_t f = 0;
    for (; f + rows <= vectors_; f += rows) {
      multiply<rows>(f, columns, square);
    }
    for (; f < vectors_; ++f) {
      multiply<1>(f, columns, square);
    }
    keep_triangle(square, products);
  }

  /// Writes the gradients of the vectors: for each, the others' sum times the gradients of its
  /// products with them.
  void backward(span<float const> row, span<float const> more, span<float const> product_gradients,
                scratch& memory, span<float> row_gradients, span<float> more_gradients) const {
    auto const stride = padded(dim_);
    memory.make_room(2 * vectors_ * stride);
    auto* const values = memory.memory_.data();          // (vectors, dim)
    auto* const gradients = values + vectors_ * stride;  // (vectors, dim)
    auto const in_row = row.size() / dim_;
    auto const in_more = more.size() / dim_;
    restride(row.data(), dim_, values, stride, dim_, in_row);
    restride(more.data(), dim_, values + in_row * stride, stride, dim_, in_more);
    for (std::size_t column = 0; column < dim_; column += detail::lanes) {
      std::size_t f = 0;
      for (; f + rows <= vectors_; f += rows) {
        spread<rows>(f, product_gradients.data(), values + column, gradients + column);
      }
      for (; f < vectors_; ++f) {
        spread<1>(f, product_gradients.data(), values + column, gradients + column);
      }
    }
    restride(gradients, stride, row_gradients.data(), dim_, dim_, in_row);
    restride(gradients + in_row * stride, stride, more_gradients.data(), dim_, dim_, in_more);
  }

 private:
  // Of a block of sums: with sixteen columns they fill, beside one row of factors, the registers
  // of the smallest x86-64.
  static constexpr std::size_t rows = 3;

  [[nodiscard]] static constexpr std::size_t padded(std::size_t count) noexcept {
    return (count + detail::lanes - 1) / detail::lanes * detail::lanes;
  }

  /// Where the products of vector f with those before it begin.
  [[nodiscard]] static constexpr std::size_t row_start(std::size_t f) noexcept {
    return f == 0 ? 0 : f * (f - 1) / 2;
  }

  /// Column v of `to` becomes vector v. In squares of four, whose loads and stores are whole
  /// registers.
  void transpose(span<float const> from, float* to) const noexcept {
    constexpr std::size_t side = 4;
    auto const stride = padded(vectors_);
    auto const count = from.size() / dim_;
    auto const whole_vectors = count / side * side;
    auto const whole_columns = dim_ / side * side;
    for (std::size_t v = 0; v < whole_vectors; v += side) {
      for (std::size_t k = 0; k < whole_columns; k += side) {
        float square[side][side];
        for (std::size_t i = 0; i < side; ++i) {
          for (std::size_t j = 0; j < side; ++j) {
            square[j][i] = from[(v + i) * dim_ + k + j];
          }
        }
        for (std::size_t j = 0; j < side; ++j) {
          std::memcpy(to + (k + j) * stride + v, square[j], sizeof square[j]);
        }
      }
    }
    for (std::size_t v = 0; v < count; ++v) {
      for (auto k = v < whole_vectors ? whole_columns : 0; k < dim_; ++k) {
        to[k * stride + v] = from[v * dim_ + k];
      }
    }
  }

  /// Products of vectors f, f + 1 ... with all before them, and some more.
  template <std::size_t Rows>
  void multiply(std::size_t f, float const* columns, float* square) const noexcept {
    auto const stride = padded(vectors_);
    for (std::size_t g = 0; g + 1 < f + Rows; g += detail::lanes) {
      detail::row_sums<Rows> sums;
      for (std::size_t k = 0; k < dim_; ++k) {
        auto const* const column = columns + k * stride;
        sums.add([=](std::size_t row) { return column[f + row]; }, column + g);
      }
      sums.store(square + f * stride + g, stride);
    }
  }

  /// Copies what lies below the diagonal. In whole registers: the excess of a row lands where the
  /// next one goes.
  void keep_triangle(float const* square, span<float> products) const noexcept {
    for (std::size_t f = 1; f < vectors_; ++f) {
      for (std::size_t g = 0; g < f; g += detail::lanes) {
        auto const* const from = square + f * padded(vectors_) + g;
        auto const at = row_start(f) + g;
        if (at + detail::lanes <= products.size()) {
          std::memcpy(products.data() + at, from, detail::lanes * sizeof(float));
        } else {
          std::copy_n(from, std::min(f - g, detail::lanes), products.data() + at);
        }
      }
    }
  }

  /// Sixteen columns of the gradients of vectors f, f + 1 ...
  template <std::size_t Rows>
  void spread(std::size_t f, float const* products, float const* values,
              float* gradients) const noexcept {
    auto const stride = padded(dim_);
    detail::row_sums<Rows> sums;
    std::array<float const*, Rows> of;  // the products of each row's vector
    for (std::size_t row = 0; row < Rows; ++row) {
      of[row] = products + row_start(f + row);
    }
    for (std::size_t g = 0; g < f; ++g) {
      sums.add([&](std::size_t row) { return of[row][g]; }, values + g * stride);
    }
    for (std::size_t row = 1; row < Rows; ++row) {
      for (std::size_t other = 0; other < row; ++other) {
        auto const product = of[row][f + other];
        sums.add(row, product, values + (f + other) * stride);
        sums.add(other, product, values + (f + row) * stride);
      }
    }
    for (std::size_t g = f + Rows; g < vectors_; ++g) {
      auto const* const with_g = products + row_start(g) + f;
      sums.add([=](std::size_t row) { return with_g[row]; }, values + g * stride);
    }
    sums.store(gradients + f * stride, stride);
  }

  std::size_t vectors_;
  std::size_t dim_;
};

}  // namespace inlay::inline INLAY_ABI
