#include "engine/training.hpp"

#include <inlay/cache/lru.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/table/zeros.hpp>
#include <inlay/vsid/sort_mapper.hpp>
#include <inlay/vsid/wide.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

// What must not change a single bit of the parameters.

namespace {

constexpr std::size_t steps = 200;

inlay::rowwise_adagrad fast_rule() {
  return {.learning_rate = 0.05F, .initial_accumulator = 0.01F};
}

template <class Cache>
toy::outcome cached(Cache const& cache, std::size_t rows, std::vector<inlay::batch> const& batches,
                    std::size_t threads = 2) {
  auto shape = toy::mixed_shape();
  shape.cache_rows = rows;
  return toy::train(
      shape,
      inlay::parts{.exec = inlay::host_exec(threads), .cache = cache, .optimizer = fast_rule()},
      batches, steps);
}

TEST_CASE("engine: in place, all rows cached, hardly any cached: the same bits after 200 steps") {
  std::uint64_t const seed = 21;
  CAPTURE(seed);
  auto const batches = toy::some_batches(40, 60, seed);
  auto const smallest = toy::smallest_cache(toy::mixed_shape(), batches);
  auto const in_place = toy::train(
      toy::mixed_shape(), inlay::parts{.exec = inlay::host_exec(2), .optimizer = fast_rule()},
      batches, steps);
  auto const all = cached(inlay::lru{}, 2000, batches);
  CHECK(all == in_place);
  CHECK(all.figures.rows.evictions == 0);
  auto const small_lru = cached(inlay::lru{}, smallest, batches);
  CHECK(small_lru == in_place);
  CHECK(small_lru.figures.rows.evictions > 1000);
  auto const small_sieve = cached(inlay::sieve{}, smallest, batches);
  CHECK(small_sieve == in_place);
  CHECK(small_sieve.figures.rows.evictions > 1000);
  CHECK_THROWS_WITH_AS(cached(inlay::lru{}, smallest - 1, batches),
                       doctest::Contains("raise cache_rows or lower the batch"), inlay::error);
}

TEST_CASE("engine: the mapper changes no bit") {
  auto const batches = toy::some_batches(10, 60, 22);
  auto const by_hash = toy::train(toy::mixed_shape(), inlay::parts{}, batches, 30);
  auto const by_sort =
      toy::train(toy::mixed_shape(), inlay::parts{.mapper = inlay::sort_mapper{}}, batches, 30);
  CHECK(by_hash == by_sort);
}

TEST_CASE("engine: the packing of keys changes no bit, in place and behind a full cache") {
  auto const batches = toy::some_batches(10, 60, 26);
  auto const by_narrow = toy::train(toy::mixed_shape(), inlay::parts{}, batches, 30);
  auto const by_wide =
      toy::train(toy::mixed_shape(), inlay::parts{.keys = inlay::wide{}}, batches, 30);
  CHECK(by_wide == by_narrow);
  auto shape = toy::mixed_shape();
  shape.cache_rows = toy::smallest_cache(shape, batches);
  auto const cached_wide =
      toy::train(shape, inlay::parts{.keys = inlay::wide{}, .cache = inlay::sieve{}}, batches, 30);
  CHECK(cached_wide == by_narrow);
}

template <class Sums>
toy::outcome with_threads(std::size_t threads, std::vector<inlay::batch> const& batches,
                          std::size_t count, Sums const& sums, toy::chunk_order order) {
  return toy::train(
      toy::mixed_shape(),
      inlay::parts{.exec = inlay::host_exec(threads), .optimizer = fast_rule(), .sums = sums},
      batches, count, order);
}

TEST_CASE("engine: with fixed_sums, threads and the order of chunks change no bit") {
  using toy::chunk_order;
  auto const batches = toy::some_batches(10, 700, 23);  // six chunks, the last one short
  auto const one =
      with_threads(1, batches, steps / 4, inlay::fixed_sums{}, chunk_order::one_by_one);
  for (std::size_t threads = 1; threads <= 3; ++threads) {
    CAPTURE(threads);
    for (auto const order : {chunk_order::one_by_one, chunk_order::side_by_side}) {
      CHECK(with_threads(threads, batches, steps / 4, inlay::fixed_sums{}, order) == one);
    }
  }
}

TEST_CASE("engine: with fixed_sums, 200 steps on short batches are the same bits on any threads") {
  auto const batches = toy::some_batches(40, 130, 24);
  auto const one =
      with_threads(1, batches, steps, inlay::fixed_sums{}, toy::chunk_order::one_by_one);
  CHECK(with_threads(2, batches, steps, inlay::fixed_sums{}, toy::chunk_order::side_by_side) ==
        one);
}

TEST_CASE("engine: with fast_sums, threads change no more than rounding in a step") {
  auto const batches = toy::some_batches(1, 700, 25);
  auto const order = toy::chunk_order::side_by_side;
  auto const one = with_threads(1, batches, 1, inlay::fast_sums{}, order);
  for (std::size_t threads = 2; threads <= 3; ++threads) {
    auto const many = with_threads(threads, batches, 1, inlay::fast_sums{}, order);
    CHECK(toy::distance(one, many) < 1e-5);
    CHECK(with_threads(threads, batches, 1, inlay::fast_sums{}, order) == many);
  }
  auto const fixed = with_threads(1, batches, 1, inlay::fixed_sums{}, order);
  CHECK(toy::distance(one, fixed) < 1e-5);
}

TEST_CASE("engine: with fast_sums, chunks one by one or side by side are the same bits") {
  auto const batches = toy::some_batches(5, 200, 26);
  for (std::size_t threads = 1; threads <= 3; ++threads) {
    CHECK(with_threads(threads, batches, 20, inlay::fast_sums{}, toy::chunk_order::one_by_one) ==
          with_threads(threads, batches, 20, inlay::fast_sums{}, toy::chunk_order::side_by_side));
  }
}

TEST_CASE("engine: sums chosen at run time are the sums chosen at compile time") {
  using any_sums = inlay::one_of<inlay::fast_sums, inlay::fixed_sums>;
  auto const batches = toy::some_batches(4, 200, 27);
  auto const order = toy::chunk_order::side_by_side;
  CHECK(with_threads(2, batches, 8, any_sums::named("fixed"), order) ==
        with_threads(2, batches, 8, inlay::fixed_sums{}, order));
  CHECK(with_threads(2, batches, 8, any_sums::named("fast"), order) ==
        with_threads(2, batches, 8, inlay::fast_sums{}, order));
}

TEST_CASE("engine: with fixed_sums a batch is the sum of its chunks along the tree, rows alone") {
  // The same ids in every row of a batch: each of 5 chunks adds 128 gradients to one row, so a
  // flat sum and the tree differ in bits.
  inlay::batch same;
  same.reset({600, 1, 0});
  for (auto& id : same.ids()) {
    id = 3;
  }
  for (auto& label : same.labels()) {
    label = 0.0F;
  }
  auto shape = inlay::shape::one_table_per_field(1, 1);
  std::vector<float> slopes(640);
  for (std::size_t i = 0; i < 600; ++i) {
    slopes[i] = inlay::random_stream{9}.normal(i);
  }
  inlay::engine trainer{shape, inlay::parts{.init = inlay::zeros{},
                                            .optimizer = inlay::rowwise_adagrad{},
                                            .sums = inlay::fixed_sums{}}};
  auto step = trainer.begin(same.view());
  for (auto chunk : step.chunks()) {
    chunk.backward({slopes.data() + 128 * chunk.number(), 128, 1});
  }
  trainer.finish(std::move(step));
  float sums[5] = {};
  for (std::size_t i = 0; i < 640; ++i) {
    sums[i / 128] += slopes[i];
  }
  auto const sum = ((sums[0] + sums[1]) + (sums[2] + sums[3])) + sums[4];
  auto const mean = sum * (1.0F / 600.0F);
  CHECK(toy::rows_of(trainer).at({0, 3})[1] == doctest::Approx(mean * mean).epsilon(1e-7));
  CHECK(toy::rows_of(trainer).at({0, 3})[1] == mean * mean);
}

}  // namespace
