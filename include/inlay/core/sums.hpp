#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/row_math.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Gradients are added in whatever order is fastest: the same for the same threads and ranks, equal
/// up to rounding otherwise.
struct fast_sums {
  static constexpr char const* name = "fast";
  /// Chunks have as many rows as there are.
  static constexpr bool pads_chunks = false;

  /// The rows of a batch that are summed as one chunk: all.
  [[nodiscard]] static constexpr std::size_t rows_a_chunk(std::size_t rows) noexcept {
    return rows > 0 ? rows : 1;
  }
};

/// Gradients are added chunk by chunk, 128 rows each, and the chunks along one binary tree over
/// their numbers. So a batch gives the same bits however it is cut among threads and ranks.
/// Networks see every chunk in one shape, the last one padded.
struct fixed_sums {
  static constexpr char const* name = "fixed";
  /// Every chunk has `chunk_rows` rows.
  static constexpr bool pads_chunks = true;
  /// Rows that are summed in one piece.
  static constexpr std::size_t chunk_rows = 128;

  /// The rows of a batch that are summed as one chunk.
  [[nodiscard]] static constexpr std::size_t rows_a_chunk(std::size_t) noexcept {
    return chunk_rows;
  }
};

/// Adds vectors that belong to numbered chunks along the binary tree over all chunk numbers.
///
/// Node i of level l is node 2i plus node 2i + 1 of level l - 1; a node without a right or left
/// child is its other child. Chunks come in ascending order and may be missing; what is added to
/// what depends on the numbers alone. Memory: one vector per level.
class tree_sum {
 public:
  /// Of vectors of so many floats.
  explicit tree_sum(std::size_t width) : width_(width) {}

  /// Forgets what was added.
  void clear() noexcept { depth_ = 0; }

  /// Makes room for chunks numbered below `chunks`, so that `open` needs no memory.
  void reserve(std::size_t chunks) {
    partial_.resize((static_cast<std::size_t>(std::bit_width(chunks)) + 2) * width_);
    depth_ = 0;
  }

  /// Begins `chunk`, later than all before it; its vector is zero and the caller adds to it. //
  /// (width)
  [[nodiscard]] float* open(std::uint32_t chunk) {
    // The two newest nodes meet below the node where the newest meets `chunk`: nothing more can
    // come between them, so they are added now.
    while (depth_ > 1 && meeting(chunks_[depth_ - 2], chunks_[depth_ - 1]) <
                             meeting(chunks_[depth_ - 1], chunk)) {
      close();
    }
    if ((depth_ + 1) * width_ > partial_.size()) {
      partial_.grow((depth_ + 1) * width_);
    }
    chunks_[depth_] = chunk;
    return std::fill_n(vector(depth_++), width_, 0.0F) - width_;
  }

  /// The sum of all chunks, at least one. // (width)
  [[nodiscard]] float* total() noexcept {
    while (depth_ > 1) {
      close();
    }
    return vector(0);
  }

 private:
  static constexpr std::size_t levels = 33;

  /// The level of the node where two chunks meet.
  [[nodiscard]] static unsigned meeting(std::uint32_t a, std::uint32_t b) noexcept {
    return static_cast<unsigned>(std::bit_width(a ^ b));
  }
  [[nodiscard]] float* vector(std::size_t level) noexcept {
    return partial_.data() + level * width_;
  }

  void close() noexcept {
    --depth_;
    add(vector(depth_ - 1), vector(depth_), width_);
  }

  std::size_t width_;
  std::size_t depth_ = 0;
  std::uint32_t chunks_[levels] = {};
  buffer<float> partial_;  // (levels in use, width)
};

}  // namespace inlay::inline INLAY_ABI
