#pragma once

#include "batch/files.hpp"
#include "golden_rows.hpp"

#include <inlay/sim/access_trace.hpp>
#include <inlay/sim/read_trace.hpp>
#include <inlay/testing/trial.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/// A trace of keys written out.
inline inlay::access_trace trace_of(std::vector<std::uint64_t> const& keys,
                                    std::vector<std::uint32_t> const& ends = {}) {
  inlay::buffer<inlay::access_trace::key> own(keys.size());
  for (std::size_t at = 0; at < keys.size(); ++at) {
    own[at] = {keys[at]};
  }
  inlay::buffer<std::uint32_t> own_ends(ends.size());
  std::copy(ends.begin(), ends.end(), own_ends.begin());
  return inlay::access_trace(std::move(own), std::move(own_ends));
}

/// Keys below `rows`, low ones more often.
inline std::vector<std::uint64_t> random_keys(inlay::testing::trial& with, std::size_t count,
                                              std::size_t rows) {
  std::vector<std::uint64_t> keys(count);
  for (auto& key : keys) {
    key = with.skewed(rows);
  }
  return keys;
}
