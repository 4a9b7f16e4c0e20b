// Rows that are not admitted read as new ones do, and nothing of them stays.

#include "engine/training.hpp"

#include <inlay/cache/lru.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/exchange/run_ranks.hpp>
#include <inlay/exchange/thread_comm.hpp>
#include <inlay/table/admit_if.hpp>
#include <inlay/table/after.hpp>
#include <inlay/table/probability.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>
#include <vector>

namespace {

using inlay::after;
using inlay::fixed_sums;
using inlay::host_exec;
using inlay::lru;
using inlay::parts;
using inlay::raw_id;

/// Samples of one id each, skewed, a function of their position.
class skewed_stream {
 public:
  explicit skewed_stream(std::uint64_t samples) : samples_(samples) {}
  [[nodiscard]] std::uint64_t size() const { return samples_; }
  [[nodiscard]] static raw_id id_of(std::uint64_t sample) {
    auto const u = inlay::random_stream{41}.uniform_double(sample);
    return static_cast<raw_id>(u * u * 500.0);
  }
  inlay::batch_view read(inlay::sample_range range) {
    content_.reset({range.size(), 1, 0});
    for (auto at = range.first; at < range.last; ++at) {
      content_.ids()[at - range.first] = id_of(at);
      content_.labels()[at - range.first] = 0.0F;
    }
    return content_.view();
  }

 private:
  std::uint64_t samples_;
  inlay::batch content_;
};

constexpr std::size_t batch_rows = 150;
constexpr std::size_t steps = 12;

/// Trains rows to shrink, and returns them.
template <class Parts>
toy::row_map trained(Parts const& parts, std::size_t cache_rows, std::size_t prefetch,
                     inlay::report* figures = nullptr) {
  auto shape = inlay::shape::one_table_per_field(1, 3);
  shape.batch = batch_rows;
  shape.cache_rows = cache_rows;
  shape.prefetch = prefetch;
  inlay::engine<Parts> trainer{shape, parts};
  skewed_stream samples(steps * batch_rows);
  while (auto step = trainer.next(samples)) {
    for (auto chunk : step->chunks()) {
      chunk.backward(chunk.pooled());
    }
    trainer.finish(std::move(*step));
  }
  trainer.flush();
  if (figures != nullptr) *figures = trainer.figures();
  return toy::rows_of(trainer);
}

template <class Admit>
auto alone(Admit const& admit) {
  return parts{.exec = host_exec(2), .admit = admit, .sums = fixed_sums{}};
}
template <class Admit>
auto cached(Admit const& admit) {
  return parts{.exec = host_exec(2), .admit = admit, .cache = lru{}, .sums = fixed_sums{}};
}

/// The same by ranks, each of which owns a part of the rows.
template <class Admit>
toy::row_map trained_by_ranks(std::size_t count, Admit const& admit) {
  std::mutex lock;
  toy::row_map all;
  inlay::run_ranks(count, [&](inlay::thread_comm const& comm) {
    auto rows = trained(
        parts{.exec = host_exec(1), .admit = admit, .comm = comm, .sums = fixed_sums{}}, 0, 1);
    std::lock_guard const guard(lock);
    all.merge(rows);
  });
  return all;
}

template <class Admit>
void check_everywhere(Admit const& admit) {
  CAPTURE(Admit::name);
  inlay::report figures;
  auto const truth = trained(alone(admit), 0, 0, &figures);
  CHECK(!truth.empty());
  CHECK(figures.rows.refused > 0);
  CHECK(figures.rows.created == truth.size());
  CHECK(figures.rows.hits + figures.rows.misses + figures.rows.refused == figures.rows.unique);
  CHECK(trained(cached(admit), 600, 0) == truth);
  CHECK(trained(cached(admit), 600, 2) == truth);
  CHECK(trained(alone(admit), 0, 2) == truth);
  for (auto const count : {2U, 3U}) {
    CHECK(trained_by_ranks(count, admit) == truth);
  }
}

bool even(inlay::narrow::key key, std::uint32_t) { return inlay::narrow::id(key) % 2 == 0; }

}  // namespace

TEST_CASE("engine: admission gives the same rows cached, ahead of their step and on any ranks") {
  check_everywhere(after{.uses = 3});
  check_everywhere(inlay::probability{.of = 0.2F, .seed = 5});
  check_everywhere(inlay::admit_if<decltype(&even)>{&even});
}

TEST_CASE("engine: rows exist from the step in which they have been used often enough") {
  constexpr std::uint32_t uses = 4;
  std::map<raw_id, std::uint32_t> seen;
  std::size_t admitted = 0;
  std::uint64_t refused = 0;
  for (std::size_t step = 0; step < steps; ++step) {
    std::map<raw_id, std::uint32_t> counts;
    for (std::size_t row = 0; row < batch_rows; ++row) {
      ++counts[skewed_stream::id_of(step * batch_rows + row)];
    }
    for (auto const& [id, count] : counts) {
      auto const before = std::exchange(seen[id], seen[id] + count);
      admitted += before < uses && before + count >= uses ? 1U : 0U;
      refused += before + count < uses ? 1U : 0U;
    }
  }
  inlay::report figures;
  CHECK(trained(alone(after{.uses = uses}), 0, 0, &figures).size() == admitted);
  CHECK(figures.rows.refused == refused);
  CHECK(figures.forgotten_keys == 0);
}

TEST_CASE("engine: a refused row reads its first values, trains for nothing, and is looked up so") {
  auto shape = inlay::shape::one_table_per_field(1, 3);
  inlay::engine trainer{shape, parts{.admit = after{.uses = 2}}};
  inlay::engine plain{shape, parts{}};
  inlay::batch content;
  content.reset({3, 1, 0});
  for (raw_id row = 0; row < 3; ++row) {
    content.ids()[row] = row == 2 ? 0 : row;  // 0 comes twice, 1 once
    content.labels()[row] = 0.0F;
  }
  auto const train = [&](auto& engine) {
    auto step = engine.begin(content);
    std::vector<float> seen((*step.chunks().begin()).pooled().data,
                            (*step.chunks().begin()).pooled().data + 3);
    for (auto chunk : step.chunks()) {
      std::vector<float> const ones(3 * chunk.rows(), 1.0F);
      chunk.backward({ones.data(), chunk.rows(), 3});
    }
    engine.finish(std::move(step));
    return seen;
  };
  CHECK(train(trainer) == train(plain));
  CHECK(toy::rows_of(trainer).size() == 1);
  CHECK(toy::rows_of(trainer).at({0, 0}) == toy::rows_of(plain).at({0, 0}));
  train(trainer);  // now 1 has come twice, and begins where it would have at first
  CHECK(toy::rows_of(trainer).at({0, 1}) == toy::rows_of(plain).at({0, 1}));
}
