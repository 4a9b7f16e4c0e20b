#pragma once

#include <inlay/core/random.hpp>
#include <inlay/core/views.hpp>

#include <concepts>

namespace inlay::inline INLAY_ABI {

/// Gives a new row its weights, from random numbers that belong to the row and a scale that belongs
/// to its table. Same stream, same weights, bit for bit, on every machine and device. It must be
/// noexcept: by then the row is in the index.
template <class T>
concept initialiser = std::copyable<T> && requires(T const init, random_stream random, float scale,
                                                   span<float> weights) {
  { init.fill(random, scale, weights) } noexcept -> std::same_as<void>;
};

}  // namespace inlay::inline INLAY_ABI
