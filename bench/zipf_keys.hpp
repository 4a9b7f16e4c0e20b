#pragma once

#include <inlay/batch/zipf_mandelbrot.hpp>
#include <inlay/core/hash.hpp>
#include <inlay/core/random.hpp>
#include <inlay/vsid/keys.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

/// Keys of one table, Zipf over `ids`, scattered so that a key does not tell its popularity.
inline std::vector<inlay::narrow::key> zipf_keys(std::size_t count, std::uint32_t ids,
                                                 std::uint64_t seed = 1, double exponent = 1.05) {
  inlay::zipf_mandelbrot const ranks(ids, 0, exponent);
  std::vector<inlay::narrow::key> keys(count);
  for (std::size_t i = 0; i < count; ++i) {
    auto const rank = ranks(inlay::random_stream{inlay::mix(seed, i)}, 0);
    keys[i] = inlay::narrow::pack(inlay::table_id{0}, inlay::mix(rank) >> 16U);
  }
  return keys;
}
