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
#include <utility>
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

/// One of the rows of trace_golden_hits.tsv: a trace, a capacity, and what others counted there.
struct golden_row {
  std::string trace;
  std::size_t capacity = 0;
  std::size_t lru_hits = 0;
  std::size_t fifo_hits = 0;
  std::vector<std::uint32_t> keys;  // of the trace
};

/// All of them; none, with a line that says so, where there is no data.
inline std::vector<golden_row> golden_rows() {
  auto const* const folder = std::getenv("INLAY_DATA");
  auto const at = std::string(folder != nullptr ? folder : ".");
  std::ifstream golden(at + "/trace_golden_hits.tsv");
  std::vector<golden_row> rows;
  std::string line;
  if (!std::getline(golden, line)) {
    std::cout << "skipped: no data (set INLAY_DATA to see the hits on real traces)\n";
    return rows;
  }
  REQUIRE(line == "trace\taccesses\tkeys\tcapacity\tlru_hits\tfifo_hits\tbelady_hits");
  while (std::getline(golden, line)) {
    std::istringstream cells(line);
    golden_row row;
    std::size_t accesses = 0;
    std::size_t distinct = 0;
    cells >> row.trace >> accesses >> distinct >> row.capacity >> row.lru_hits >> row.fifo_hits;
    row.keys = read_trace(at + "/trace_" + row.trace + ".u32");
    REQUIRE(row.keys.size() == accesses);
    rows.push_back(std::move(row));
  }
  REQUIRE(rows.size() >= 15);
  return rows;
}

template <inlay::cache_policy Policy>
std::size_t hits_of(Policy policy, golden_row const& row) {
  one_at_a_time<Policy> cache(policy, row.capacity);
  std::size_t hits = 0;
  for (auto const key : row.keys) {
    hits += cache.use(key) ? 1U : 0U;
  }
  return hits;
}
