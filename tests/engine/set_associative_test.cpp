// Sets of a few ways before the tables: where a row goes, and whether it finds a place at all,
// changes no bit of the parameters.

#include <inlay/cache/set_associative.hpp>

#include "engine/training.hpp"

#include <inlay/cache/lru.hpp>
#include <inlay/cache/s3_fifo.hpp>
#include <inlay/core/shuffled_exec.hpp>
#include <inlay/engine/engine.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

using inlay::set_associative;
using inlay::set_overflow;

namespace {

inlay::rowwise_adagrad fast_rule() {
  return {.learning_rate = 0.05F, .initial_accumulator = 0.01F};
}

template <class Exec, class Cache, class Organisation>
toy::outcome trained(Exec const& exec, Cache const& cache, Organisation const& organisation,
                     std::size_t depth, std::size_t rows, std::vector<inlay::batch> const& batches,
                     std::size_t steps) {
  auto shape = toy::mixed_shape();
  shape.cache_rows = rows;
  shape.prefetch = depth;
  return toy::train_stream(
      shape,
      inlay::parts{
          .exec = exec, .cache = cache, .organisation = organisation, .optimizer = fast_rule()},
      batches, steps);
}

toy::outcome in_place(std::size_t threads, std::vector<inlay::batch> const& batches,
                      std::size_t steps) {
  return toy::train_stream(
      toy::mixed_shape(), inlay::parts{.exec = inlay::host_exec(threads), .optimizer = fast_rule()},
      batches, steps);
}

}  // namespace

TEST_CASE("set_associative: a training that spills, or takes second sets, has the bits of rows in "
          "place") {
  constexpr std::size_t steps = 200;
  auto const batches = toy::some_batches(20, 64, 41);
  auto const expected = in_place(2, batches, steps);
  for (auto const depth : {0U, 1U, 3U}) {
    CAPTURE(depth);
    auto const smallest = toy::smallest_cache(toy::mixed_shape(), batches, depth + 1);
    auto const rows = (smallest + 15) / 16 * 16;
    auto const spilling =
        trained(inlay::host_exec(2), inlay::lru{},
                set_associative<4>{.overflow = set_overflow::spill}, depth, rows, batches, steps);
    CHECK(spilling == expected);
    CHECK(spilling.figures.rows.spilled > 1000);
    CHECK(spilling.figures.rows.evictions > 1000);
    CHECK(spilling.figures.rows.second_set == 0);
    auto const moving = trained(inlay::host_exec(2), inlay::s3_fifo{},
                                set_associative<16>{.overflow = set_overflow::second_set}, depth,
                                2 * rows, batches, steps);
    CHECK(moving == expected);
    CHECK(moving.figures.rows.second_set > 0);
    CHECK(moving.figures.rows.spilled == 0);
  }
}

TEST_CASE("set_associative: a cache of one row trains: all others spill") {
  auto const batches = toy::some_batches(5, 20, 42);
  auto const tiny = trained(inlay::host_exec(1), inlay::lru{},
                            set_associative<1>{.overflow = set_overflow::spill}, 2, 1, batches, 20);
  CHECK(tiny == in_place(1, batches, 20));
}

TEST_CASE("set_associative: spilling on streams that put work off, it has the bits of rows in "
          "place, under 300 seeds") {
  constexpr std::size_t steps = 12;
  auto const batches = toy::some_batches(5, 4, 43);
  auto const expected = in_place(1, batches, steps);
  auto const smallest = toy::smallest_cache(toy::mixed_shape(), batches);
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    CAPTURE(seed);
    auto const seen = trained(inlay::shuffled_exec(seed), inlay::lru{},
                              set_associative<2>{.overflow = set_overflow::spill}, seed % 4,
                              (smallest + 1) / 2 * 2, batches, steps);
    CHECK(seen == expected);
    CHECK(seen.figures.rows.spilled > 0);
  }
}

TEST_CASE("set_associative: a set that is too full is an error of the step, and training goes on") {
  auto const batches = toy::some_batches(2, 64, 44);
  auto shape = toy::mixed_shape();
  shape.cache_rows = (toy::smallest_cache(shape, batches) + 1) / 2 * 2;
  inlay::engine trainer{shape,
                        inlay::parts{.cache = inlay::lru{}, .organisation = set_associative<2>{}}};
  toy::network net(toy::width_of(shape), toy::dense_width);
  net.attach_to(trainer);
  CHECK_THROWS_WITH_AS((void)trainer.begin(batches[0].view()),
                       doctest::Contains("take more ways, another set_overflow"), inlay::error);
  auto const small = toy::some_batches(1, 1, 45);
  auto step = trainer.begin(small[0].view());
  net.train_all(step);
  trainer.finish(std::move(step));
  CHECK(trainer.figures().steps == 1);
}
