#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/views.hpp>

// g++-12 takes the deliberately undefined registers of its own AVX-512 intrinsics for a fault (GCC
// bug 105593), wherever Eigen uses them.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <Eigen/Core>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include <algorithm>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// Memory in which `add_product` packs its operands, kept between calls; one per thread.
class gemm_workspace {
 public:
  /// Room for pieces of the left factor.
  [[nodiscard]] span<float> left(std::size_t size) { return resized(left_, size); }
  /// Room for pieces of the right factor.
  [[nodiscard]] span<float> right(std::size_t size) { return resized(right_, size); }

 private:
  [[nodiscard]] static span<float> resized(buffer<float>& memory, std::size_t size) {
    memory.resize(size);
    return memory.view();
  }

  buffer<float> left_;
  buffer<float> right_;
};

/// Says that a factor of `add_product` is meant transposed.
struct transposed {
  matrix_view<float const> of;  ///< the factor as it lies in memory
};

namespace detail {

/// How Eigen cuts a product, and where it packs the pieces.
///
/// The sizes are constants. Eigen would derive them from the caches that it finds, but the cut of
/// the depth decides the order of summation, and two machines of one job must not add in two
/// orders.
class gemm_blocking : public Eigen::internal::level3_blocking<float, float> {
 public:
  gemm_blocking(std::size_t rows, std::size_t cols, std::size_t depth, gemm_workspace& memory) {
    auto const slices = (depth + deepest - 1) / deepest;
    auto const slice = round_up((depth + slices - 1) / slices, 8);
    auto const wide = std::min(cols, widest);
    auto const tall = std::min(rows, tallest);
    m_kc = static_cast<Eigen::Index>(slice);
    m_mc = static_cast<Eigen::Index>(wide);
    m_nc = static_cast<Eigen::Index>(tall);
    m_blockA = memory.left(slice * wide).data();
    m_blockB = memory.right(slice * tall).data();
  }

 private:
  static constexpr std::size_t deepest = 512;  // 512 x 4 floats, a strip of rows, stay in L1
  static constexpr std::size_t widest = 384;   // 512 x 384 floats, packed weights, stay in L2
  static constexpr std::size_t tallest = 256;

  [[nodiscard]] static constexpr std::size_t round_up(std::size_t value, std::size_t unit) {
    return (value + unit - 1) / unit * unit;
  }
};

/// c += a b, where Left and Right say how a and b lie in memory.
///
/// Eigen's kernel is called below its expressions: those take another path for small shapes (a
/// product by coefficients or by vectors, whose order of summation depends on alignment), allocate
/// their packing memory anew in each call, and start OpenMP threads where the user's flags allow
/// it.
template <int Left, int Right>
void add_product(matrix_view<float const> a, matrix_view<float const> b, matrix_view<float> c,
                 std::size_t depth, gemm_workspace& memory) {
  static_assert(EIGEN_VERSION_AT_LEAST(3, 4, 0), "the networks need Eigen 3.4 or later");
  if (c.rows == 0 || c.cols == 0 || depth == 0) {
    return;
  }
  using index = Eigen::Index;
  using kernel = Eigen::internal::general_matrix_matrix_product<index, float, Left, false, float,
                                                                Right, false, Eigen::RowMajor, 1>;
  gemm_blocking blocking(c.rows, c.cols, depth, memory);
  kernel::run(static_cast<index>(c.rows), static_cast<index>(c.cols), static_cast<index>(depth),
              a.data, static_cast<index>(a.stride), b.data, static_cast<index>(b.stride), c.data, 1,
              static_cast<index>(c.stride), 1.0F, blocking);
}

}  // namespace detail

/// c += a b: (rows, cols) += (rows, depth) (depth, cols). Same shapes, same order of summation.
inline void add_product(matrix_view<float const> a, matrix_view<float const> b,
                        matrix_view<float> c, gemm_workspace& memory) {
  expects(a.rows == c.rows && a.cols == b.rows && b.cols == c.cols,
          "the shapes of a product must agree");
  detail::add_product<Eigen::RowMajor, Eigen::RowMajor>(a, b, c, a.cols, memory);
}

/// c += a^T b: (rows, cols) += (depth, rows)^T (depth, cols).
inline void add_product(transposed a, matrix_view<float const> b, matrix_view<float> c,
                        gemm_workspace& memory) {
  expects(a.of.cols == c.rows && a.of.rows == b.rows && b.cols == c.cols,
          "the shapes of a product must agree");
  detail::add_product<Eigen::ColMajor, Eigen::RowMajor>(a.of, b, c, b.rows, memory);
}

/// c += a b^T: (rows, cols) += (rows, depth) (cols, depth)^T.
inline void add_product(matrix_view<float const> a, transposed b, matrix_view<float> c,
                        gemm_workspace& memory) {
  expects(a.rows == c.rows && a.cols == b.of.cols && b.of.rows == c.cols,
          "the shapes of a product must agree");
  detail::add_product<Eigen::RowMajor, Eigen::ColMajor>(a, b.of, c, a.cols, memory);
}

}  // namespace inlay::inline INLAY_ABI
