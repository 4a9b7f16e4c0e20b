#pragma once

#include <inlay/core/views.hpp>

#include <concepts>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// Turns rows into bytes.
template <class T>
concept encodes_rows =
    requires(T const codec, matrix_view<float const> rows, span<std::byte> into) {
      { codec.max_bytes(rows.rows, rows.cols) } -> std::same_as<std::size_t>;
      { codec.encode(rows, into) } -> std::same_as<std::size_t>;  // bytes written
    };

/// Turns bytes into rows; bytes that are not what `encode` wrote are an error, never a crash.
template <class T>
concept decodes_rows =
    requires(T const codec, span<std::byte const> bytes, matrix_view<float> into) {
      { codec.decode(bytes, into) } -> std::same_as<void>;
    };

/// What crosses the wire. Same input and settings give the same bytes. Laws:
/// testing/codec_laws.hpp.
template <class T>
concept codec = encodes_rows<T> && decodes_rows<T>;

}  // namespace inlay::inline INLAY_ABI
