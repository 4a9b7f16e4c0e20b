#include "zipf_keys.hpp"

#include <inlay/core/host_exec.hpp>
#include <inlay/table/after.hpp>
#include <inlay/table/probability.hpp>
#include <inlay/vsid/hash_mapper.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <ctime>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

// Who gets a row: a hundred steps of 26 x 8,192 ids, Zipf 1.05 over so many, on one core. A step
// asks for its distinct keys that have no row; those with three uses get one. Items are askings.
// `ratio` is the processor time of two std::unordered_map with the same hash, which count, forget
// and drop the same keys, over that of `after`; `one_by_one` the same with keys that are not asked
// for together. Best of three, and all must admit the same keys. `before` so many keys of another
// table were asked for: with none, much of the time is growth; with as many as are counted at most,
// it is that of a long training. `probability` has the askings of an `after` with room for all.

namespace {

using key = inlay::narrow::key;

constexpr std::size_t step_ids = std::size_t{26} * 8192;
constexpr std::size_t steps = 100;
constexpr std::uint32_t uses = 3;

struct key_hash {
  std::size_t operator()(key row) const noexcept { return hash(row); }
};

/// The counts that one would write oneself, in two generations of at most `half` keys.
class map_counts {
 public:
  explicit map_counts(std::size_t half) : half_(half) {}

  bool admit(key row, std::uint32_t count) {
    if (auto const known = young_.find(row); known != young_.end()) {
      known->second += count;
      if (known->second < uses) return false;
      young_.erase(known);
      return true;
    }
    if (auto const known = old_.find(row); known != old_.end()) {
      count += known->second;
      old_.erase(known);
    }
    if (count >= uses) return true;
    if (young_.size() == half_) {
      old_.clear();
      std::swap(young_, old_);
    }
    young_.emplace(row, count);
    return false;
  }

 private:
  std::size_t half_;
  std::unordered_map<key, std::uint32_t, key_hash> young_;
  std::unordered_map<key, std::uint32_t, key_hash> old_;
};

/// What the steps ask for.
struct askings {
  struct step {
    std::vector<key> keys;
    std::vector<std::uint32_t> counts;
  };
  std::vector<step> all;
  std::size_t items = 0;
  std::size_t admitted = 0;
};

/// Asks for so many keys of another table.
template <class Admit>
void ask_before(std::int64_t keys, Admit const& admit) {
  for (std::int64_t i = 0; i < keys; ++i) {
    (void)admit(inlay::narrow::pack(inlay::table_id{1}, static_cast<std::uint64_t>(i)));
  }
}

askings made_askings(std::uint32_t ids, map_counts counts) {
  inlay::host_exec const exec(1);
  inlay::hash_mapper::workspace<key> work;
  inlay::id_plan<key> plan;
  std::unordered_set<key, key_hash> rows;
  askings result;
  for (std::size_t step = 0; step < steps; ++step) {
    auto const keys = zipf_keys(step_ids, ids, step);
    inlay::hash_mapper{}.map(exec, inlay::span<key const>(keys.data(), keys.size()), work, plan);
    auto& asked = result.all.emplace_back();
    for (std::size_t v = 0; v < plan.size(); ++v) {
      if (rows.contains(plan.unique[v])) continue;
      asked.keys.push_back(plan.unique[v]);
      asked.counts.push_back(plan.counts[v]);
      if (counts.admit(plan.unique[v], plan.counts[v])) rows.insert(plan.unique[v]);
    }
    result.items += asked.keys.size();
  }
  result.admitted = rows.size();
  return result;
}

/// The least processor time of play(make()), which says how many keys it admits.
template <class Make, class Play>
double best_of_three(std::size_t admitted, benchmark::State& state, Make const& make,
                     Play const& play) {
  double best = 1e9;
  for (int round = 0; round < 3; ++round) {
    auto counts = make();
    auto const start = std::clock();
    auto const now = play(counts);
    best = std::min(best, static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC);
    if (now != admitted) state.SkipWithError("the opponents admit different keys");
  }
  return best;
}

template <class Admit>
std::size_t one_by_one(askings const& asked, Admit const& admit) {
  std::size_t admitted = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    auto const& [keys, counts] = asked.all[step];
    for (std::size_t i = 0; i < keys.size(); ++i) {
      admitted += admit(keys[i], counts[i], inlay::step_id{static_cast<std::int64_t>(step)});
    }
  }
  return admitted;
}

template <class Admission>
std::size_t together(askings const& asked, typename Admission::template state<key>& state) {
  std::size_t admitted = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    auto const& [keys, counts] = asked.all[step];
    inlay::admit_each(state, inlay::step_id{static_cast<std::int64_t>(step)},
                      inlay::span<key const>(keys.data(), keys.size()),
                      inlay::span<std::uint32_t const>(counts.data(), counts.size()),
                      [&](std::size_t, bool is_admitted) { admitted += is_admitted; });
  }
  return admitted;
}

void admit_after(benchmark::State& state) {
  using counts = inlay::after::state<key>;
  inlay::after const part{.uses = uses, .most_counted = static_cast<std::uint32_t>(state.range(1))};
  auto const map_made = [&] {
    map_counts map(part.most_counted / 2);
    ask_before(state.range(2), [&](key row) { return map.admit(row, 1); });
    return map;
  };
  auto const made = [&] {
    counts ours(part);
    ask_before(state.range(2), [&](key row) { return ours.admit(row, 1, {}); });
    return ours;
  };
  auto const asked = made_askings(static_cast<std::uint32_t>(state.range(0)), map_made());
  auto const map = best_of_three(asked.admitted, state, map_made, [&](map_counts& by_map) {
    return one_by_one(asked, [&](key row, std::uint32_t count, inlay::step_id) {
      return by_map.admit(row, count);
    });
  });
  auto const single = best_of_three(asked.admitted, state, made, [&](counts& ours) {
    return one_by_one(asked, [&](key row, std::uint32_t count, inlay::step_id step) {
      return ours.admit(row, count, step);
    });
  });
  auto const best = best_of_three(asked.admitted, state, made, [&](counts& ours) {
    return together<inlay::after>(asked, ours);
  });
  auto ours = made();
  for (auto _ : state) {
    state.PauseTiming();
    ours = made();
    state.ResumeTiming();
    benchmark::DoNotOptimize(together<inlay::after>(asked, ours));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(asked.items));
  state.counters["ratio"] = map / best;
  state.counters["one_by_one"] = map / single;
  state.counters["bytes"] = static_cast<double>(ours.bytes());
  state.counters["counted"] = static_cast<double>(ours.counted());
  state.counters["dropped"] = static_cast<double>(ours.dropped());
}

void admit_by_probability(benchmark::State& state) {
  auto const asked =
      made_askings(static_cast<std::uint32_t>(state.range(0)), map_counts(steps * step_ids));
  inlay::probability::state<key> draws{inlay::probability{}};
  for (auto _ : state) {
    benchmark::DoNotOptimize(together<inlay::probability>(asked, draws));
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(asked.items));
}

}  // namespace

BENCHMARK(admit_after)
    ->Name("table/admit/after")
    ->ArgNames({"ids", "most_counted", "before"})
    ->Args({10'000'000, 1 << 24, 0})
    ->Args({100'000'000, 1 << 24, 0})
    ->Args({100'000'000, 1 << 20, 1 << 20})
    ->Args({100'000'000, 1 << 23, 1 << 23})
    ->Unit(benchmark::kMillisecond);
BENCHMARK(admit_by_probability)
    ->Name("table/admit/probability")
    ->ArgName("ids")
    ->Arg(10'000'000)
    ->Unit(benchmark::kMillisecond);
