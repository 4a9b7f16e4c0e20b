#include <inlay/bag/backward.hpp>
#include <inlay/bag/bag_list.hpp>
#include <inlay/bag/forward.hpp>
#include <inlay/batch/batch.hpp>
#include <inlay/core/random.hpp>
#include <inlay/core/row_math.hpp>
#include <inlay/vsid/hash_mapper.hpp>

#include <benchmark/benchmark.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

// Pooling and its transpose on one core, ids skewed as in click logs, one id a bag or as many as
// MLPerf's DLRM-DCNv2 has (multi_hot: 214 ids a sample, 1 to 100 a bag). Items are ids. `ratio` is
// how fast they are against a bare loop over the same rows, timed in the same process just before:
// for one id a bag it copies rows, for more it adds them to their bag.

namespace {

constexpr std::size_t rows = 8192;
constexpr std::size_t fields = 26;
constexpr std::size_t distinct = 30000;  // ids of a field
constexpr std::size_t multi_hot_rows = 512;
constexpr std::array<std::size_t, fields> multi_hot_ids = {
    3, 2, 1, 2, 6, 1, 1, 1, 1, 7, 3, 8, 1, 6, 9, 5, 1, 1, 1, 12, 100, 27, 10, 3, 1, 1};

enum class bags_hold { one_id, multi_hot };

inlay::raw_id skewed_id(std::uint64_t draw) {
  auto const u = inlay::random_stream{7}.uniform_double(draw);
  return static_cast<inlay::raw_id>(u * u * u * distinct);
}

inlay::batch some_batch(bags_hold what) {
  inlay::batch content;
  std::uint64_t draw = 0;
  if (what == bags_hold::one_id) {
    content.reset({rows, fields, 0});
    for (auto& id : content.ids()) {
      id = skewed_id(draw++);
    }
    return content;
  }
  content.reset_bags({multi_hot_rows, fields, 0});
  std::vector<inlay::raw_id> bag;
  for (auto const ids : multi_hot_ids) {
    for (std::size_t row = 0; row < multi_hot_rows; ++row) {
      bag.resize(ids);
      for (auto& id : bag) {
        id = skewed_id(draw++);
      }
      content.add_bag({bag.data(), bag.size()});
    }
  }
  return content;
}

/// A batch whose rows lie in a table much larger than the caches of a CPU.
struct pooled_batch {
  pooled_batch(bags_hold what, std::size_t row_dim) : dim(row_dim), content(some_batch(what)) {
    std::vector<inlay::bag_field<inlay::sum>> reads;
    for (std::size_t field = 0; field < fields; ++field) {
      reads.push_back({field, static_cast<inlay::table_id>(field), field * dim, {}});
    }
    inlay::buffer<inlay::narrow::key> keys;
    auto const view = content.view();
    inlay::collect_bags<inlay::narrow, inlay::sum>(exec, view, {reads.data(), fields}, view.rows,
                                                   fields * dim, bags, keys);
    inlay::hash_mapper::workspace<inlay::narrow::key> work;
    inlay::hash_mapper{}.map(exec, std::as_const(keys).view(), work, plan);
    table.assign(plan.size() * dim, 0.5F);
    for (std::size_t v = 0; v < plan.size(); ++v) {
      // As a table hands its rows out: not in the order of the batch.
      places.push_back(table.data() + (v * 7919 % plan.size()) * dim);
    }
    pooled.assign(view.rows * fields * dim, 0.0F);
  }

  void forward() {
    inlay::pool_bags(
        exec, {bags, std::as_const(plan.virtual_ids).view(), {places.data(), places.size()}, dim},
        pooled.data());
  }

  void backward() {
    inlay::tree_sum sums(dim);
    gradient_places.resize(bags.places.size());
    inlay::row_gradients<inlay::narrow::key> gradient_of(bags, plan, pooled.data(), dim,
                                                         gradient_places.view(), sums);
    gradient_of.open(0, plan.size());
    float sum = 0.0F;
    std::vector<float> gradient(dim);
    for (std::size_t v = 0; v < plan.size(); ++v) {
      gradient_of(v, gradient.data());
      sum += gradient[0];
    }
    benchmark::DoNotOptimize(sum);
  }

  void gather() {
    if (bags.size() == bags.places.size()) {
      for (std::size_t i = 0; i < plan.virtual_ids.size(); ++i) {
        std::copy_n(places[plan.virtual_ids[i]], dim, pooled.data() + bags.places[i]);
      }
    } else {
      std::fill(pooled.begin(), pooled.end(), 0.0F);
      for (std::size_t i = 0; i < plan.virtual_ids.size(); ++i) {
        inlay::add(pooled.data() + bags.places[i], places[plan.virtual_ids[i]], dim);
      }
    }
    benchmark::DoNotOptimize(pooled.data());
  }

  [[nodiscard]] std::size_t ids() const { return plan.virtual_ids.size(); }

  std::size_t dim;
  inlay::host_exec exec{1};
  inlay::batch content;
  inlay::bag_list bags;
  inlay::id_plan<inlay::narrow::key> plan;
  inlay::buffer<std::uint32_t> gradient_places;
  std::vector<float> table;
  std::vector<float const*> places;
  std::vector<float> pooled;
};

[[nodiscard]] double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// Seconds of a bare gather, the best of a few.
[[nodiscard]] double gather_seconds(pooled_batch& batch) {
  auto best = 1e9;
  for (int trial = 0; trial < 9; ++trial) {
    auto const begun = now();
    batch.gather();
    best = std::min(best, now() - begun);
  }
  return best;
}

template <void (pooled_batch::*Work)()>
void run(benchmark::State& state, bags_hold what) {
  pooled_batch batch(what, static_cast<std::size_t>(state.range(0)));
  auto const gather = gather_seconds(batch);
  auto best = 1e9;
  for (auto _ : state) {
    auto const begun = now();
    (batch.*Work)();
    best = std::min(best, now() - begun);
  }
  auto const ids = static_cast<std::int64_t>(batch.ids());
  state.SetItemsProcessed(state.iterations() * ids);
  state.SetBytesProcessed(state.iterations() * ids *
                          static_cast<std::int64_t>(batch.dim * sizeof(float)));
  state.counters["ratio"] = gather / best;
}

template <void (pooled_batch::*Work)()>
void add(std::string const& name) {
  for (auto const& [what, which] :
       {std::pair{bags_hold::one_id, "one_id"}, {bags_hold::multi_hot, "multi_hot"}}) {
    benchmark::RegisterBenchmark(("bag/" + name + "/" + which).c_str(),
                                 [hold = what](benchmark::State& state) { run<Work>(state, hold); })
        ->ArgName("dim")
        ->Arg(16)
        ->Arg(64)
        ->Arg(128);
  }
}

bool const added = [] {
  add<&pooled_batch::gather>("gather");
  add<&pooled_batch::forward>("forward");
  add<&pooled_batch::backward>("backward");
  return true;
}();

}  // namespace
