#include "process_memory.hpp"

#include <inlay/batch/criteo_shape.hpp>
#include <inlay/core/permutation.hpp>
#include <inlay/table/host_rows.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <iterator>
#include <vector>

// What a growing table takes, in memory and at a time: all 26 tables of Criteo Kaggle in one store,
// as the engine has them, row-wise Adagrad (one float of state), on one core. Every call asks for
// 8,192 distinct keys, half of them new, as long as there are any. Payload is weights and state;
//   bytes     what the table says that it holds,
//   resident  what the process has more than before, as untouched memory is not there,
//   peak      the most that it had more while growing.
// Pauses are calls: the median, one in a hundred, the longest. Beside them stands the longest that
// one huge page of new memory took, `huge_page_ms`: no table can do better, as a call needs two.

namespace {

using key = inlay::narrow::key;
using store = inlay::host_rows<inlay::narrow, inlay::uniform>;

constexpr std::size_t call_keys = 8192;
constexpr std::size_t new_keys = call_keys / 2;

/// Keys of the 26 fields in the order in which some training meets them first.
class criteo_keys {
 public:
  [[nodiscard]] std::size_t size() const { return order_.size(); }

  [[nodiscard]] key operator[](std::size_t n) const {
    auto rank = static_cast<std::uint32_t>(order_(n));
    std::size_t field = 0;
    for (; rank >= inlay::criteo_fields[field].ids; ++field) {
      rank -= inlay::criteo_fields[field].ids;
    }
    return inlay::narrow::pack(static_cast<inlay::table_id>(field),
                               inlay::criteo_shape::id(field, rank));
  }

 private:
  static std::size_t count() {
    std::size_t sum = 0;
    for (auto const& field : inlay::criteo_fields)
      sum += field.ids;
    return sum;
  }

  inlay::permutation order_{count(), 1};
};

/// The keys of the call that comes when there are `rows`: `fresh` new ones among known ones.
void next_call(criteo_keys const& all, std::size_t rows, std::size_t fresh,
               std::vector<key>& keys) {
  constexpr std::size_t stride = 1'000'003;  // a prime, so known ones are distinct...
  auto const known =
      rows % stride == 0 ? 0 : std::min(rows, call_keys - fresh);  // ...but for these
  keys.clear();
  for (std::size_t n = 0; n < std::max(known, fresh); ++n) {
    if (n < known) keys.push_back(all[(rows / 3 + n * stride) % rows]);
    if (n < fresh) keys.push_back(all[rows + n]);
  }
}

/// How long each call took.
struct call_times {
  std::vector<double> wall;       // ms
  std::vector<double> processor;  // ms

  template <class Body>
  void take(Body const& body) {
    auto const wall_before = milliseconds(CLOCK_MONOTONIC);
    auto const processor_before = milliseconds(CLOCK_THREAD_CPUTIME_ID);
    body();
    processor.push_back(milliseconds(CLOCK_THREAD_CPUTIME_ID) - processor_before);
    wall.push_back(milliseconds(CLOCK_MONOTONIC) - wall_before);
  }

  void report(benchmark::State& state) {
    auto const part = [](std::vector<double>& times, double share) {
      auto const at = static_cast<std::ptrdiff_t>(share * static_cast<double>(times.size() - 1));
      std::nth_element(times.begin(), times.begin() + at, times.end());
      return times[static_cast<std::size_t>(at)];
    };
    double sum = 0;
    for (auto const time : wall)
      sum += time;
    state.counters["median_ms"] = part(wall, 0.5);
    state.counters["p99_ms"] = part(wall, 0.99);
    state.counters["longest_pause_ms"] = part(wall, 1.0);
    state.counters["longest_pause_cpu_ms"] = part(processor, 1.0);
    state.SetIterationTime(sum * 1e-3);
  }
};

void grow(benchmark::State& state) {
  auto const dim = static_cast<std::size_t>(state.range(0));
  auto const wanted = static_cast<std::size_t>(state.range(1));
  criteo_keys const all;
  inlay::host_exec const exec(1);
  std::vector<key> keys(call_keys);
  std::vector<float*> at(call_keys);
  call_times times;
  times.wall.reserve(wanted / new_keys + 2);
  times.processor.reserve(wanted / new_keys + 2);
  auto const huge_page_ms = have_had(wanted * ((dim + 1) * sizeof(float) + 64));
  for (auto _ : state) {
    auto const before = begin_peak();
    store rows({{}, 1, dim, std::vector<float>(std::size(inlay::criteo_fields), 0.01F), {0.0F}});
    while (rows.size() < wanted) {
      next_call(all, rows.size(), std::min(new_keys, wanted - rows.size()), keys);
      times.take([&] {
        (void)rows.find_or_create(exec, {keys.data(), keys.size()}, {at.data(), keys.size()});
      });
    }
    auto const payload = static_cast<double>(rows.size() * (dim + 1) * sizeof(float));
    auto const after = memory_now();
    state.counters["rows"] = static_cast<double>(rows.size());
    state.counters["bytes_over_payload"] = static_cast<double>(rows.bytes()) / payload;
    state.counters["resident_over_payload"] =
        static_cast<double>(after.resident - before.resident) / payload;
    state.counters["peak_over_payload"] =
        static_cast<double>(after.peak - before.resident) / payload;
    state.counters["huge_page_ms"] = huge_page_ms;
    times.report(state);
  }
}

}  // namespace

BENCHMARK(grow)
    ->Name("table/grow")
    ->ArgNames({"dim", "rows"})
    ->Args({16, 1'000'000})
    ->Args({16, 10'000'000})
    ->Args({16, 33'762'577})
    ->Args({64, 33'762'577})
    ->Iterations(1)
    ->UseManualTime()
    ->Unit(benchmark::kMillisecond);
