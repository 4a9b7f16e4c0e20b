#pragma once

#include "batch/files.hpp"

#include <inlay/sim/access_trace.hpp>
#include <inlay/sim/read_trace.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <fstream>
#include <sstream>
#include <string>

/// A row of trace_golden_hits.tsv: what another program counted on a trace at a capacity.
struct golden_row {
  std::string trace;
  std::size_t accesses = 0;
  std::size_t keys = 0;
  std::size_t capacity = 0;
  std::size_t lru_hits = 0;
  std::size_t fifo_hits = 0;
  std::size_t belady_hits = 0;
};

/// Calls body(row, trace) for all rows; says so where they are not there.
template <class Body>
void for_each_golden_row(Body const& body) {
  auto const path = data_file("trace_golden_hits.tsv");
  if (path.empty()) return;
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  REQUIRE(line == "trace\taccesses\tkeys\tcapacity\tlru_hits\tfifo_hits\tbelady_hits");
  int rows = 0;
  while (std::getline(file, line)) {
    std::istringstream cells(line);
    golden_row row;
    cells >> row.trace >> row.accesses >> row.keys >> row.capacity >> row.lru_hits >>
        row.fifo_hits >> row.belady_hits;
    REQUIRE(!cells.fail());
    CAPTURE(row.trace);
    CAPTURE(row.capacity);
    auto const trace = inlay::read_trace(data_file("trace_" + row.trace + ".u32"));
    CHECK(trace.size() == row.accesses);
    CHECK(trace.distinct() == row.keys);
    body(row, trace);
    ++rows;
  }
  CHECK(rows == 15);
}
