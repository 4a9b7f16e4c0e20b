#include "process_memory.hpp"
#include "zipf_keys.hpp"

#include <inlay/core/buffer.hpp>
#include <inlay/core/prefetch.hpp>
#include <inlay/table/host_rows.hpp>
#include <inlay/vsid/hash_mapper.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <memory>
#include <vector>

// What a step's rows cost by the size of the table, on one core: `find_or_create` for the distinct
// keys of 8,192 x 26 ids, Zipf 1.05 over so many rows, all of them there. No step comes twice, for
// its rare ids would then be in a cache. Per distinct key, processor time, median of the steps:
//   find_ns         find_or_create: the address of each row, by one line of the index
//   plain_ns        to read one word of the same lines of an array as large as the index, nothing
//                   else: what memory takes; `ratio` is find_ns over it
//   small_pages_ns  the same, the array in pages of 4 KiB: what translation takes
//   uniform_ns      as plain_ns, for keys of which none is frequent: no line is in a near cache
//   rows_ns         to read the rows, whose addresses are known

namespace {

using key = inlay::narrow::key;
using store = inlay::host_rows<inlay::narrow, inlay::uniform>;
using steps_keys = std::vector<std::vector<key>>;

constexpr std::size_t dim = 16;
constexpr std::size_t step_ids = 26 * 8192;
constexpr std::size_t steps = 100;
constexpr std::uint32_t most_rows = 100'000'000;

/// One table for all sizes: it grows from one to the next. Frequent ids come first.
class filled_table {
 public:
  store& of(std::uint32_t rows) {
    std::vector<key> keys;
    std::vector<float*> at(call);
    auto const flush = [&] {
      (void)rows_.find_or_create(exec_, {keys.data(), keys.size()}, {at.data(), keys.size()});
      keys.clear();
    };
    while (filled_ < rows) {
      keys.push_back(inlay::narrow::pack(inlay::table_id{0}, inlay::mix(++filled_) >> 16U));
      if (keys.size() == call) flush();
    }
    for (std::size_t calls = 0; calls < 10'000; ++calls)
      flush();  // what still moves arrives
    return rows_;
  }

 private:
  static constexpr std::size_t call = 8192;
  inlay::host_exec exec_{1};
  store rows_{{{}, 1, dim, {0.01F}, {0.0F}}};
  std::uint32_t filled_ = 0;
};

steps_keys distinct_keys(std::uint32_t rows) {
  inlay::host_exec const exec(1);
  inlay::hash_mapper::workspace<key> work;
  inlay::id_plan<key> plan;
  steps_keys result;
  for (std::size_t step = 0; step < steps; ++step) {
    auto const ids = zipf_keys(step_ids, rows, inlay::mix(rows, step));
    inlay::hash_mapper{}.map(exec, {ids.data(), ids.size()}, work, plan);
    result.emplace_back(plan.unique.begin(), plan.unique.end());
  }
  return result;
}

/// As many steps of keys that nobody has seen before.
steps_keys uniform_keys() {
  steps_keys result(steps, std::vector<key>(step_ids / 4));
  std::uint64_t n = 0;
  for (auto& keys : result) {
    for (auto& one : keys)
      one = {n++};
  }
  return result;
}

double nanoseconds() { return 1e6 * milliseconds(CLOCK_THREAD_CPUTIME_ID); }

/// Median over the steps of the time of body(keys), per key.
template <class Body>
double per_key(steps_keys const& all, Body const& body) {
  std::vector<double> times;
  for (auto const& keys : all) {
    auto const start = nanoseconds();
    body(keys);
    times.push_back((nanoseconds() - start) / static_cast<double>(keys.size()));
  }
  std::nth_element(times.begin(), times.begin() + steps / 2, times.end());
  return times[steps / 2];
}

struct line {
  std::uint64_t words[8];
};

/// Reads a word of the line where each key is at home, as `key_index` sees it.
double read_lines(steps_keys const& all, inlay::span<line const> lines) {
  return per_key(all, [&](std::vector<key> const& keys) {
    std::uint64_t sum = 0;
    for (auto const one : keys)
      sum += lines[((hash(one) >> 32U) * lines.size()) >> 32U].words[0];
    benchmark::DoNotOptimize(sum);
  });
}

double read_rows(steps_keys const& all, store const& rows) {
  std::vector<float const*> at(step_ids);
  double nanoseconds_a_key = 0;
  for (auto const& keys : all) {
    rows.find({keys.data(), keys.size()}, {at.data(), keys.size()});
    auto const start = nanoseconds();
    float sum = 0;
    inlay::with_prefetch<16>(
        keys.size(), [&](std::size_t i) { inlay::prefetch_lines(at[i], dim * sizeof(float)); },
        [&](std::size_t i) {
          for (std::size_t column = 0; column < dim; ++column)
            sum += at[i][column];
        });
    benchmark::DoNotOptimize(sum);
    nanoseconds_a_key += (nanoseconds() - start) / static_cast<double>(keys.size() * steps);
  }
  return nanoseconds_a_key;
}

/// Bytes of the index of a table of so many rows: all but the slabs.
std::size_t index_bytes(store const& rows) {
  auto const row_bytes = rows.layout().floats() * sizeof(float);
  auto const slab_rows = std::bit_floor(inlay::usual_slab_bytes / row_bytes);
  return rows.bytes() - (rows.size() + slab_rows - 1) / slab_rows * slab_rows * row_bytes;
}

void batch(benchmark::State& state) {
  static std::unique_ptr<filled_table> table;
  if (!table) table = std::make_unique<filled_table>();
  auto const count = static_cast<std::uint32_t>(state.range(0));
  auto& rows = table->of(count);
  auto const all = distinct_keys(count);
  auto const bytes = index_bytes(rows);
  inlay::host_exec const exec(1);
  std::vector<float*> at(step_ids);
  std::size_t distinct = 0;
  for (auto const& keys : all)
    distinct += keys.size();
  for (auto _ : state) {
    auto const find = per_key(all, [&](std::vector<key> const& keys) {
      (void)rows.find_or_create(exec, {keys.data(), keys.size()}, {at.data(), keys.size()});
    });
    state.counters["find_ns"] = find;
    {
      inlay::buffer<line> lines;
      lines.assign(bytes / sizeof(line), {});
      auto const plain = read_lines(all, lines.view());
      state.counters["plain_ns"] = plain;
      state.counters["ratio"] = find / plain;
      state.counters["uniform_ns"] = read_lines(uniform_keys(), lines.view());
    }
    {
      std::vector<line> const lines(bytes / sizeof(line));  // huge pages are not asked for
      state.counters["small_pages_ns"] = read_lines(all, {lines.data(), lines.size()});
    }
    state.counters["rows_ns"] = read_rows(all, rows);
    state.counters["distinct"] = static_cast<double>(distinct) / steps;
    state.counters["index_MB"] = static_cast<double>(bytes) * 1e-6;
    state.SetIterationTime(find * static_cast<double>(distinct) / steps * 1e-9);
  }
  if (count == most_rows) table.reset();  // other benches need the memory
}

}  // namespace

BENCHMARK(batch)
    ->Name("table/batch")
    ->ArgName("rows")
    ->Arg(1'000'000)
    ->Arg(2'000'000)
    ->Arg(5'000'000)
    ->Arg(10'000'000)
    ->Arg(20'000'000)
    ->Arg(50'000'000)
    ->Arg(most_rows)
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
