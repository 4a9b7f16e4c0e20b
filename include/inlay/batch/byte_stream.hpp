#pragma once

#include <inlay/core/views.hpp>

#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// Bytes that come one after the other, from wherever they may.
class byte_stream {
 public:
  byte_stream() = default;
  byte_stream(byte_stream const&) = delete;
  byte_stream& operator=(byte_stream const&) = delete;
  virtual ~byte_stream() = default;

  /// Fills `into` with the next bytes and returns how many they are: all that there is room for,
  /// or the last ones. Throws where the bytes can't be had.
  [[nodiscard]] virtual std::size_t read(span<char> into) = 0;
};

}  // namespace inlay::inline INLAY_ABI
