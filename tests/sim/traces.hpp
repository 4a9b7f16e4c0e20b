#pragma once

#include "batch/files.hpp"

#include <inlay/cache/slot_list.hpp>
#include <inlay/sim/access_trace.hpp>
#include <inlay/sim/read_trace.hpp>
#include <inlay/testing/trial.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
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

/// A row of trace_golden_hits.tsv, which another program computed, by column.
using golden_row = std::map<std::string, std::string>;

/// Calls body(row, trace) for all rows; says so where they are not there.
template <class Body>
void for_each_golden_row(Body const& body) {
  auto const path = data_file("trace_golden_hits.tsv");
  if (path.empty()) return;
  std::ifstream file(path);
  std::string line;
  std::string cell;
  std::vector<std::string> columns;
  std::getline(file, line);
  for (std::istringstream cells(line); std::getline(cells, cell, '\t');) {
    columns.push_back(cell);
  }
  int rows = 0;
  while (std::getline(file, line)) {
    golden_row row;
    std::istringstream cells(line);
    for (auto const& column : columns) {
      std::getline(cells, row[column], '\t');
    }
    CAPTURE(row["trace"]);
    CAPTURE(row["capacity"]);
    auto const trace = inlay::read_trace(data_file("trace_" + row["trace"] + ".u32"));
    CHECK(std::to_string(trace.size()) == row["accesses"]);
    CHECK(std::to_string(trace.distinct()) == row["keys"]);
    body(row, trace);
    ++rows;
  }
  CHECK(rows == 15);
}

/// First in, first out, as short as a policy can be: the third column of the golden figures.
struct plain_fifo {
  static constexpr char const* name = "plain_fifo";
  struct slot_state {
    inlay::link at;
  };
  using set_state = inlay::slot_list;
  using slots = inlay::span<slot_state>;

  void reset(slots, set_state& queue) const { queue = {}; }
  void on_insert(slots s, set_state& queue, inlay::way_id way, inlay::cache_access const&) const {
    queue.push_young(s, way);
  }
  void on_hit(slots, set_state&, inlay::way_id, inlay::cache_access const&) const {}
  void on_evict(slots s, set_state& queue, inlay::way_id way) const { queue.remove(s, way); }
  template <class Pinned>
  inlay::way_id victim(slots s, set_state& queue, inlay::cache_access const&,
                       Pinned const& pinned) const {
    for (auto left = queue.size; left > 0; --left) {
      if (!pinned(queue.oldest)) return queue.oldest;
      queue.make_young(s, queue.oldest);
    }
    return inlay::no_way;
  }
};
