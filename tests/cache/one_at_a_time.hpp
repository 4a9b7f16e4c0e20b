#pragma once

#include <inlay/cache/policy_slots.hpp>
#include <inlay/core/hash.hpp>
#include <inlay/vsid/key_index.hpp>
#include <inlay/vsid/keys.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>
#include <vector>

/// A cache of keys alone, one access at a time: what a trace is.
template <inlay::cache_policy Policy>
class one_at_a_time {
 public:
  one_at_a_time(Policy policy, std::size_t capacity)
      : slots_(policy, capacity), owners_(capacity) {}

  /// Whether the key was there; it is afterwards.
  bool use(std::uint64_t key) {
    inlay::narrow::key const row{key};
    inlay::cache_access const use{.hash = hash(row)};
    if (auto const slot = index_.find(row); slot != index_.absent) {
      slots_.on_hit(slot, use);
      return true;
    }
    auto const slot = used_ < owners_.size() ? used_++ : evict(use);
    owners_[slot] = row;
    index_.find_or_insert(row, slot);
    slots_.on_insert(slot, use);
    return false;
  }

 private:
  inlay::way_id evict(inlay::cache_access const& use) {
    auto const slot = slots_.victim(use, inlay::detail::nothing_pinned{});
    slots_.on_evict(slot);
    index_.erase(owners_[slot]);
    return slot;
  }

  inlay::policy_slots<Policy> slots_;
  inlay::key_index<inlay::narrow::key> index_;
  std::vector<inlay::narrow::key> owners_;
  inlay::way_id used_ = 0;
};

inline std::vector<std::uint32_t> read_trace(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  auto const content = bytes.str();
  std::vector<std::uint32_t> keys;
  for (std::size_t at = 0; at + 4 <= content.size(); at += 4) {
    std::uint32_t key = 0;
    for (std::size_t byte = 4; byte-- > 0;) {
      key = key << 8U | static_cast<unsigned char>(content[at + byte]);
    }
    keys.push_back(key);
  }
  return keys;
}

/// Runs the real traces and compares hits with a column of trace_golden_hits.tsv, which another
/// program computed.
template <inlay::cache_policy Policy>
void check_golden_hits(Policy policy, std::string const& column) {
  auto const* const folder = std::getenv("INLAY_DATA");
  std::ifstream golden(std::string(folder != nullptr ? folder : ".") + "/trace_golden_hits.tsv");
  std::string line;
  if (!std::getline(golden, line)) {
    std::cout << "skipped: no data (set INLAY_DATA to see the golden hits of real traces)\n";
    return;
  }
  std::vector<std::string> names;
  for (std::istringstream cells(line); std::getline(cells, line, '\t');) {
    names.push_back(line);
  }
  int rows = 0;
  while (std::getline(golden, line)) {
    std::vector<std::string> row;
    for (std::istringstream cells(line); std::getline(cells, line, '\t');) {
      row.push_back(line);
    }
    REQUIRE(row.size() == names.size());
    auto const cell = [&](std::string const& name) -> std::string const& {
      for (std::size_t at = 0; at < names.size(); ++at) {
        if (names[at] == name) return row[at];
      }
      FAIL("no column " << name);
      return row[0];
    };
    CAPTURE(cell("trace"));
    CAPTURE(cell("capacity"));
    auto const trace = read_trace(std::string(folder) + "/trace_" + cell("trace") + ".u32");
    REQUIRE(std::to_string(trace.size()) == cell("accesses"));
    one_at_a_time<Policy> cache(policy, std::stoul(cell("capacity")));
    std::size_t hits = 0;
    for (auto const key : trace) {
      hits += cache.use(key) ? 1U : 0U;
    }
    CHECK(std::to_string(hits) == cell(column));
    ++rows;
  }
  CHECK(rows >= 15);
}
