#pragma once

#include <inlay/batch/batch_view.hpp>

#include <concepts>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Something that holds samples at positions 0 .. size() and reads any range of them: a `loader`.
template <class T>
concept sample_stream = requires(T& stream, sample_range range) {
  { stream.size() } -> std::convertible_to<std::uint64_t>;
  { stream.read(range) } -> std::convertible_to<batch_view>;
};

}  // namespace inlay::inline INLAY_ABI
