#include "zipf_keys.hpp"

#include <inlay/core/host_exec.hpp>
#include <inlay/vsid/hash_mapper.hpp>
#include <inlay/vsid/key_index.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#if __has_include(<tsl/robin_map.h>)
#include <tsl/robin_map.h>
#define BENCH_ROBIN_MAP
#endif
#if __has_include(<boost/unordered/unordered_flat_map.hpp>)
#include <boost/unordered/unordered_flat_map.hpp>
#define BENCH_BOOST_FLAT_MAP
#endif
#ifdef BENCH_ABSL
#include <absl/container/flat_hash_map.h>
#endif

// key_index beside the hash maps that one would take instead, in one process: finding 10 million
// keys (`vsid/find`), Zipf 1.05, and numbering the distinct ones of 26 x 8,192 ids (`vsid/dedup`).
// All use the same hash. `ratio` is the processor time of the best of the others over that of
// key_index; `sum`, of the numbers found, is equal for all or the benchmark fails. Debian's
// packages of the others: robin-map-dev, libboost1.81-dev, libabsl-dev; those that are missing are
// left out. `vsid/share` has two threads beside one.

namespace {

using key = inlay::narrow::key;
using keys_view = inlay::span<key const>;

constexpr std::uint32_t stored = 10'000'000;
constexpr std::size_t asked = 8'000'000;
constexpr std::size_t step_ids = 26 * 8192;

struct key_hash {
  using is_avalanching = void;  // so that Boost does not mix once more
  std::size_t operator()(key row) const noexcept { return hash(row); }
};

/// Processor time: the machine may be shared.
double seconds_now() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

template <class Body>
double best_of(int rounds, Body const& body) {
  double best = 1e9;
  for (int round = 0; round < rounds; ++round) {
    auto const start = seconds_now();
    body();
    best = std::min(best, seconds_now() - start);
  }
  return best;
}

std::vector<key> const& stored_keys() {
  static auto const keys = [] {
    std::vector<key> result(stored);
    for (std::uint32_t rank = 1; rank <= stored; ++rank) {
      result[rank - 1] = inlay::narrow::pack(inlay::table_id{0}, inlay::mix(rank) >> 16U);
    }
    return result;
  }();
  return keys;
}

std::vector<key> const& asked_keys() {
  static auto const keys = zipf_keys(asked, stored, 3);
  return keys;
}

/// Of 212,992 such ids .334 are distinct.
std::vector<key> const& step_keys() {
  static auto const keys = zipf_keys(step_ids, 1'000'000, 1, 0.99);
  return keys;
}

/// Runs both tasks with a map that is no key_index.
template <class Map>
struct others {
  Map map;

  void fill() {
    for (std::uint32_t i = 0; i < stored; ++i) {
      map.try_emplace(stored_keys()[i], i);
    }
  }
  std::uint64_t find() const {
    std::uint64_t sum = 0;
    for (auto const& row : asked_keys()) {
      sum += map.find(row)->second;
    }
    return sum;
  }
  static std::uint64_t dedup() {
    static std::vector<std::uint32_t> numbers(step_ids);
    static std::vector<key> unique;
    Map fresh;
    unique.clear();
    for (std::size_t i = 0; i < step_ids; ++i) {
      auto const [at, is_new] =
          fresh.try_emplace(step_keys()[i], static_cast<std::uint32_t>(unique.size()));
      numbers[i] = at->second;
      if (is_new) unique.push_back(step_keys()[i]);
    }
    return unique.size() + numbers.back();
  }
};

struct ours {
  inlay::key_index<key> map;
  inlay::key_index<key> fresh;
  std::vector<std::uint32_t> numbers = std::vector<std::uint32_t>(step_ids);
  std::vector<key> unique = std::vector<key>(step_ids);

  void fill() {
    for (std::uint32_t i = 0; i < stored; ++i) {
      map.find_or_insert(stored_keys()[i], i);
    }
  }
  [[nodiscard]] std::uint64_t find() const {
    std::uint64_t sum = 0;
    map.find_each(keys_view(asked_keys().data(), asked),
                  [&](std::size_t, std::uint32_t number) { sum += number; });
    return sum;
  }
  std::uint64_t dedup() {
    std::uint32_t size = 0;
    fresh.clear();
    fresh.find_or_insert_each(
        keys_view(step_keys().data(), step_ids), [&] { return size; },
        [&](std::size_t i, std::uint32_t number, bool is_new) {
          numbers[i] = number;
          if (is_new) unique[size++] = step_keys()[i];
        });
    return size + numbers.back();
  }
};

struct result {
  double seconds = 1e9;
  std::uint64_t sum = 0;
};

enum class task { find, dedup };

template <class Subject>
result measure(Subject& subject, task what) {
  result seen;
  auto const rounds = what == task::find ? 3 : 20;
  if (what == task::find) subject.fill();
  seen.seconds =
      best_of(rounds, [&] { seen.sum = what == task::find ? subject.find() : subject.dedup(); });
  return seen;
}

template <class Map>
void one_other(char const* name, task what, std::vector<std::pair<char const*, result>>& into) {
  others<Map> subject;
  into.emplace_back(name, measure(subject, what));
}

std::vector<std::pair<char const*, result>> all_others(task what) {
  std::vector<std::pair<char const*, result>> seen;
  one_other<std::unordered_map<key, std::uint32_t, key_hash>>("std_unordered_map", what, seen);
#ifdef BENCH_ROBIN_MAP
  one_other<tsl::robin_map<key, std::uint32_t, key_hash>>("robin_map", what, seen);
#endif
#ifdef BENCH_BOOST_FLAT_MAP
  one_other<boost::unordered_flat_map<key, std::uint32_t, key_hash>>("boost_flat_map", what, seen);
#endif
#ifdef BENCH_ABSL
  one_other<absl::flat_hash_map<key, std::uint32_t, key_hash>>("absl_flat_hash_map", what, seen);
#endif
  return seen;
}

void run(benchmark::State& state, task what) {
  auto const items = what == task::find ? asked : step_ids;
  auto const seen = all_others(what);
  double best = 1e9;
  for (auto const& [name, other] : seen) {
    best = std::min(best, other.seconds);
    state.counters[std::string(name) + "_M/s"] = static_cast<double>(items) / other.seconds * 1e-6;
  }
  ours subject;
  auto const mine = measure(subject, what);
  for (auto const& [name, other] : seen) {
    if (other.sum != mine.sum) state.SkipWithError("the maps do not agree");
  }
  for (auto _ : state) {
    benchmark::DoNotOptimize(what == task::find ? subject.find() : subject.dedup());
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(items));
  state.counters["ratio"] = best / mine.seconds;
}

void find(benchmark::State& state) { run(state, task::find); }
void dedup(benchmark::State& state) { run(state, task::dedup); }

/// One thread beside two, turn by turn: `ratio` is the best wall time of one over that of two.
template <class Work>
void share(benchmark::State& state, std::size_t items, Work const& work) {
  std::array<inlay::host_exec, 2> const execs{inlay::host_exec(1), inlay::host_exec(2)};
  std::array<double, 2> best{1e9, 1e9};
  for (auto _ : state) {
    for (std::size_t e = 0; e < execs.size(); ++e) {
      auto const start = std::chrono::steady_clock::now();
      work(execs[e], e);
      std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - start;
      best[e] = std::min(best[e], seconds.count());
    }
  }
  state.counters["one_M/s"] = static_cast<double>(items) / best[0] * 1e-6;
  state.counters["two_M/s"] = static_cast<double>(items) / best[1] * 1e-6;
  state.counters["ratio"] = best[0] / best[1];
}

void find_shared(benchmark::State& state) {
  ours subject;
  subject.fill();
  std::vector<std::uint32_t> numbers(asked);
  share(state, asked, [&](inlay::host_exec const& exec, std::size_t) {
    exec.for_pieces(asked, 65'536, [&](std::size_t first, std::size_t last) {
      subject.map.find_each(
          keys_view(asked_keys().data() + first, last - first),
          [&](std::size_t i, std::uint32_t number) { numbers[first + i] = number; });
    });
  });
}

/// The whole plan, with the transpose.
void map_shared(benchmark::State& state) {
  auto const keys = zipf_keys(static_cast<std::size_t>(state.range(0)), 1'000'000, 1, 0.99);
  std::array<inlay::hash_mapper::workspace<key>, 2> work;
  std::array<inlay::id_plan<key>, 2> plans;
  share(state, keys.size(), [&](inlay::host_exec const& exec, std::size_t e) {
    inlay::hash_mapper{}.map(exec, keys_view(keys.data(), keys.size()), work[e], plans[e]);
  });
  if (!std::equal(plans[0].occurrences.begin(), plans[0].occurrences.end(),
                  plans[1].occurrences.begin(), plans[1].occurrences.end())) {
    state.SkipWithError("two threads do not agree with one");
  }
}

}  // namespace

BENCHMARK(find_shared)->Name("vsid/share/find/keys:10000000")->Unit(benchmark::kMillisecond);
BENCHMARK(map_shared)
    ->Name("vsid/share/map")
    ->ArgName("ids")
    ->Arg(step_ids)
    ->Arg(8 * step_ids)
    ->Unit(benchmark::kMillisecond);
BENCHMARK(find)->Name("vsid/find/key_index/keys:10000000")->Unit(benchmark::kMillisecond);
BENCHMARK(dedup)->Name("vsid/dedup/key_index/ids:212992")->Unit(benchmark::kMicrosecond);
