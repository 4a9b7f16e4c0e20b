#pragma once

#include <inlay/codec/codec.hpp>
#include <inlay/core/error.hpp>

#include <cstddef>
#include <cstring>
#include <string>

namespace inlay::inline INLAY_ABI {

/// Rows as they are: four bytes a value, bit for bit.
struct raw {
  static constexpr char const* name = "raw";

  [[nodiscard]] constexpr std::size_t max_bytes(std::size_t rows, std::size_t cols) const noexcept {
    return rows * cols * sizeof(float);
  }

  /// rows (n, dim) → max_bytes(n, dim) bytes at the front of `into`.
  [[nodiscard]] std::size_t encode(matrix_view<float const> rows, span<std::byte> into) const {
    auto const row_bytes = rows.cols * sizeof(float);
    expects(into.size() >= max_bytes(rows.rows, rows.cols), "the buffer is too small for raw rows");
    for (std::size_t row = 0; row_bytes > 0 && row < rows.rows; ++row) {
      std::memcpy(into.data() + row * row_bytes, rows.row(row).data(), row_bytes);
    }
    return rows.rows * row_bytes;
  }

  /// Exactly the bytes of an `encode` → into (n, dim).
  void decode(span<std::byte const> bytes, matrix_view<float> into) const {
    auto const row_bytes = into.cols * sizeof(float);
    if (bytes.size() != into.rows * row_bytes) {
      fail("raw rows of " + std::to_string(into.rows * row_bytes) + " bytes were expected, and " +
           std::to_string(bytes.size()) + " came");
    }
    for (std::size_t row = 0; row_bytes > 0 && row < into.rows; ++row) {
      std::memcpy(into.row(row).data(), bytes.data() + row * row_bytes, row_bytes);
    }
  }
};

static_assert(codec<raw>);

}  // namespace inlay::inline INLAY_ABI
