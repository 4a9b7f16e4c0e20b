// Rows that are brought ahead, by a thread or by streams that put work off, change no bit of the
// parameters.

#include "engine/training.hpp"

#include <inlay/cache/arc.hpp>
#include <inlay/cache/clock.hpp>
#include <inlay/cache/fifo.hpp>
#include <inlay/cache/lfu.hpp>
#include <inlay/cache/look_ahead.hpp>
#include <inlay/cache/lru.hpp>
#include <inlay/cache/s3_fifo.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/cache/w_tiny_lfu.hpp>
#include <inlay/core/one_of.hpp>
#include <inlay/core/shuffled_exec.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/sim/batch_simulator.hpp>
#include <inlay/sim/recorded.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace {

using any_policy = inlay::one_of<inlay::lru, inlay::fifo, inlay::clock, inlay::lfu, inlay::sieve,
                                 inlay::s3_fifo, inlay::arc, inlay::w_tiny_lfu, inlay::look_ahead>;
std::vector<std::string> const policies{"lru",     "fifo", "clock",      "lfu",       "sieve",
                                        "s3_fifo", "arc",  "w_tiny_lfu", "look_ahead"};

inlay::rowwise_adagrad fast_rule() {
  return {.learning_rate = 0.05F, .initial_accumulator = 0.01F};
}

template <class Exec>
toy::outcome trained(Exec const& exec, std::string const& policy, std::size_t depth,
                     std::size_t rows, std::vector<inlay::batch> const& batches,
                     std::size_t steps) {
  auto shape = toy::mixed_shape();
  shape.cache_rows = rows;
  shape.prefetch = depth;
  return toy::train_stream(
      shape,
      inlay::parts{.exec = exec, .cache = any_policy::named(policy), .optimizer = fast_rule()},
      batches, steps);
}

}  // namespace

TEST_CASE("engine: pipelined equals serial bit for bit after 500 steps, whatever the policy") {
  constexpr std::size_t steps = 500;
  auto const batches = toy::some_batches(20, 64, 31);
  auto const in_place = toy::train_stream(
      toy::mixed_shape(), inlay::parts{.exec = inlay::host_exec(2), .optimizer = fast_rule()},
      batches, steps);
  for (auto const& policy : policies) {
    for (auto const depth : {1U, 2U, 4U}) {
      CAPTURE(policy);
      CAPTURE(depth);
      auto const smallest = toy::smallest_cache(toy::mixed_shape(), batches, depth + 1);
      for (auto const rows : {smallest, 2 * smallest}) {
        auto const seen = trained(inlay::host_exec(2), policy, depth, rows, batches, steps);
        CHECK(seen.figures.steps == steps);
        CHECK(seen.figures.dropped_leases == 0);
        CHECK(seen == in_place);
      }
    }
  }
}

TEST_CASE("engine: rows in place are brought ahead as well, and no bit changes") {
  auto const batches = toy::some_batches(20, 64, 32);
  auto shape = toy::mixed_shape();
  auto const parts = inlay::parts{.exec = inlay::host_exec(2), .optimizer = fast_rule()};
  auto const serial = toy::train_stream(shape, parts, batches, 100);
  shape.prefetch = 3;
  CHECK(toy::train_stream(shape, parts, batches, 100) == serial);
}

TEST_CASE("engine: pipelined on streams that put work off equals serial, under 1,000 seeds") {
  constexpr std::size_t steps = 12;
  auto const batches = toy::some_batches(5, 4, 33);
  auto const in_place = toy::train_stream(
      toy::mixed_shape(), inlay::parts{.exec = inlay::host_exec(1), .optimizer = fast_rule()},
      batches, steps);
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    auto const depth = std::size_t{1} + seed % 3;
    auto const smallest = toy::smallest_cache(toy::mixed_shape(), batches, depth + 1);
    CAPTURE(seed);
    CHECK(trained(inlay::shuffled_exec(seed), policies[seed % policies.size()], depth, smallest,
                  batches, steps) == in_place);
  }
}

TEST_CASE("engine: pipelined, hits and evictions are those of a simulator of the same depth") {
  auto const batches = toy::some_batches(20, 64, 34);
  for (auto const& policy : policies) {
    for (auto const depth : {0U, 1U, 3U}) {
      CAPTURE(policy);
      CAPTURE(depth);
      auto shape = inlay::shape::one_table_per_field(6, 4);
      shape.cache_rows = toy::smallest_cache(shape, batches, depth + 1) + 7;
      shape.prefetch = depth;
      toy::round_trip samples(batches, 60);
      shape.batch = samples.rows();
      inlay::engine trainer{
          shape, inlay::parts{.exec = inlay::host_exec(2), .cache = any_policy::named(policy)}};
      inlay::key_log seen;
      trainer.attach(seen);
      while (auto step = trainer.next(samples)) {
        for (auto chunk : step->chunks()) {
          chunk.backward(chunk.pooled());
        }
        trainer.finish(std::move(*step));
      }
      auto const replayed = inlay::batch_simulator{.cache = any_policy::named(policy),
                                                   .capacity = shape.cache_rows,
                                                   .depth = depth}
                                .replay(inlay::host_exec(1), inlay::recorded(seen));
      auto const rows = trainer.figures().rows;
      CHECK(replayed.hits == rows.hits);
      CHECK(replayed.misses == rows.misses);
      CHECK(replayed.evictions == rows.evictions);
      CHECK(rows.evictions > 0);
    }
  }
}
