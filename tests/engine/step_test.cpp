#include "engine/training.hpp"

#include <inlay/cache/lru.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/optim/adagrad.hpp>
#include <inlay/optim/sgd.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

using inlay::host_exec;
using inlay::parts;

/// Overwrites what a caller may overwrite once a step has begun.
void scribble(inlay::batch& content) {
  auto const shape = content.shape();
  content.reset({shape.rows, shape.fields, shape.dense_width});
  for (auto& id : content.ids()) {
    id = 424242;
  }
  for (auto& label : content.labels()) {
    label = -1e9F;
  }
  for (std::size_t row = 0; row < shape.rows; ++row) {
    for (auto& feature : content.dense().row(row)) {
      feature = 1e9F;
    }
  }
}

template <class Sums>
void check_chunks(std::size_t rows, std::size_t threads, Sums const& sums) {
  CAPTURE(rows);
  CAPTURE(threads);
  auto const shape = toy::mixed_shape();
  auto const width = toy::width_of(shape);
  inlay::engine trainer{shape, parts{.exec = host_exec(threads), .sums = sums}};
  auto batches = toy::some_batches(1, rows, 31 + rows);
  auto const expected = toy::some_batches(1, rows, 31 + rows);
  auto step = trainer.begin(batches[0].view());
  if (rows > 0) scribble(batches[0]);
  auto const seen = trainer.lookup(expected[0].view());
  CHECK(step.rows() == rows);
  if (sums.pads_chunks) CHECK(step.chunks().size() == (rows + 127) / 128);
  CHECK(step.chunks().size() <= std::max(threads, (rows + 127) / 128));
  std::size_t row = 0;
  std::size_t number = 0;
  for (auto chunk : step.chunks()) {
    CHECK(chunk.number() == number++);
    if (sums.pads_chunks) CHECK(chunk.rows() == 128);
    CHECK(chunk.labels().weights.size() == (sums.pads_chunks ? 128 : 0));
    CHECK(chunk.labels().values.size() == chunk.rows());
    CHECK(chunk.dense().rows == chunk.rows());
    CHECK(chunk.pooled().cols == width);
    for (std::size_t in_chunk = 0; in_chunk < chunk.rows(); ++in_chunk, ++row) {
      auto const pooled = chunk.pooled().row(in_chunk);
      auto const dense = chunk.dense().row(in_chunk);
      if (row < rows) {
        auto const view = expected[0].view();
        REQUIRE(std::equal(dense.begin(), dense.end(), view.dense.row(row).begin()));
        REQUIRE(chunk.labels().values[in_chunk] == view.labels[row]);
        REQUIRE(std::equal(pooled.begin(), pooled.end(), seen.pooled.row(row).begin()));
        if (sums.pads_chunks) REQUIRE(chunk.labels().weights[in_chunk] == 1.0F);
      } else {
        auto const zero = [](float value) { return value == 0.0F; };
        REQUIRE(std::all_of(pooled.begin(), pooled.end(), zero));
        REQUIRE(std::all_of(dense.begin(), dense.end(), zero));
        REQUIRE(chunk.labels().weights[in_chunk] == 0.0F);
      }
    }
    std::vector<float> const zeros(chunk.rows() * width);
    chunk.backward({zeros.data(), chunk.rows(), width});
  }
  CHECK(row == (sums.pads_chunks ? (rows + 127) / 128 * 128 : rows));
  trainer.finish(std::move(step));
  CHECK(trainer.figures().samples == rows);
  CHECK(trainer.figures().steps == (rows > 0 ? 1 : 0));
}

TEST_CASE("engine: chunks hold every row once, copied, padded under fixed_sums") {
  for (std::size_t const rows : {0U, 1U, 2U, 127U, 128U, 129U, 257U}) {
    for (std::size_t threads = 1; threads <= 3; ++threads) {
      check_chunks(rows, threads, inlay::fixed_sums{});
      check_chunks(rows, threads, inlay::fast_sums{});
    }
  }
}

TEST_CASE("engine: a step without any id trains the dense part alone") {
  inlay::batch content;
  content.reset_bags({3, 6, toy::dense_width});
  for (int bag = 0; bag < 18; ++bag) {
    content.add_bag({});
  }
  for (std::size_t row = 0; row < 3; ++row) {
    content.labels()[row] = 1.0F;
    for (auto& feature : content.dense().row(row)) {
      feature = 1.0F;
    }
  }
  std::vector<inlay::batch> batches;
  batches.push_back(std::move(content));
  toy::network const fresh(toy::width_of(toy::mixed_shape()), toy::dense_width);
  auto const result = toy::train(toy::mixed_shape(), parts{}, batches, 1);
  CHECK(result.rows.empty());
  CHECK(result.dense != fresh.all());
  CHECK(result.figures.rows.unique == 0);
}

TEST_CASE("engine: attached parameters follow the optimizer, with a factor of their own") {
  std::vector<float> values{1.0F, 2.0F, 3.0F, 99.0F, 4.0F, 5.0F, 6.0F, 99.0F};
  std::vector<float> slopes{0.5F, -1.0F, 2.0F, 8.0F, 0.25F, -4.0F};
  inlay::matrix_view<float> const parameter{values.data(), 2, 3, 4};
  inlay::matrix_view<float const> const slope{slopes.data(), 2, 3};
  auto shape = inlay::shape::one_table_per_field(1, 1);
  shape.dense_learning_rate_factor = 0.5F;
  auto const rule = inlay::adagrad{.learning_rate = 0.1F, .initial_accumulator = 0.1F};
  inlay::engine trainer{shape, parts{.exec = host_exec(1), .optimizer = rule}};
  trainer.attach({&parameter, 1}, {&slope, 1});
  inlay::batch content;
  content.reset({2, 1, 0});
  for (std::size_t row = 0; row < 2; ++row) {
    content.ids()[row] = row;
    content.labels()[row] = 0.0F;
  }
  auto step = trainer.begin(content.view());
  float const zeros[2] = {};
  (*step.chunks().begin()).backward({zeros, 2, 1});
  trainer.finish(std::move(step));
  for (std::size_t i = 0; i < 6; ++i) {
    double const g = slopes[i] / 2.0;
    double const was = 1.0 + static_cast<double>(i);
    CHECK(values[i / 3 * 4 + i % 3] ==
          doctest::Approx(was - 0.05 * g / (std::sqrt(0.1 + g * g) + 1e-8)).epsilon(1e-6));
  }
  CHECK(values[3] == 99.0F);
  CHECK(values[7] == 99.0F);
}

TEST_CASE("engine: a new row's accumulator begins as the optimizer says, exactly") {
  auto const shape = inlay::shape::one_table_per_field(1, 5);
  inlay::engine trainer{shape, parts{.optimizer = inlay::adagrad{.initial_accumulator = 0.1F}}};
  inlay::batch content;
  content.reset({1, 1, 0});
  content.ids()[0] = 3;
  content.labels()[0] = 0.0F;
  { auto const dropped = trainer.begin(content.view()); }
  auto const row = toy::rows_of(trainer).at({0, 3});
  CHECK(std::vector<float>(row.begin() + 5, row.end()) == std::vector<float>(5, 0.1F));
}

// Lookup.

TEST_CASE("lookup: unknown ids read their first row, and none is created") {
  auto const shape = toy::mixed_shape();
  auto const batches = toy::some_batches(2, 50, 41);
  inlay::engine fresh{shape, parts{}};
  inlay::engine trained{shape, parts{.exec = host_exec(2)}};
  auto const looked = fresh.lookup(batches[0].view());
  auto const step = trained.begin(batches[0].view());
  std::size_t row = 0;
  for (auto chunk : step.chunks()) {
    for (std::size_t in_chunk = 0; in_chunk < chunk.rows(); ++in_chunk, ++row) {
      auto const pooled = chunk.pooled().row(in_chunk);
      REQUIRE(std::equal(pooled.begin(), pooled.end(), looked.pooled.row(row).begin()));
      REQUIRE(looked.labels.values[row] == batches[0].view().labels[row]);
    }
  }
  CHECK(fresh.figures().table_rows == 0);
  CHECK(fresh.figures().ids == 0);
  CHECK(fresh.figures().rows.unique == 0);
  CHECK(looked.dense.rows == 50);
}

/// Reads rows 1 .. 9 of table 0 one by one.
template <class Engine>
std::vector<std::vector<float>> read_rows(Engine& trainer) {
  inlay::batch content;
  content.reset({9, 1, 0});
  for (std::size_t row = 0; row < 9; ++row) {
    content.ids()[row] = row + 1;
  }
  auto const seen = trainer.lookup(content.view());
  std::vector<std::vector<float>> result;
  for (std::size_t row = 0; row < 9; ++row) {
    result.emplace_back(seen.pooled.row(row).begin(), seen.pooled.row(row).end());
  }
  return result;
}

/// Trains one row a step, with gradient one in each column.
template <class Engine>
void touch(Engine& trainer, inlay::raw_id id) {
  inlay::batch content;
  content.reset({1, 1, 0});
  content.ids()[0] = id;
  content.labels()[0] = 0.0F;
  auto step = trainer.begin(content.view());
  float const ones[] = {1.0F, 1.0F, 1.0F};
  (*step.chunks().begin()).backward({ones, 1, 3});
  trainer.finish(std::move(step));
}

template <class Cache>
void check_lookup_leaves_order(Cache const& cache) {
  auto shape = inlay::shape::one_table_per_field(1, 3);
  shape.cache_rows = 3;
  inlay::engine quiet{shape, parts{.exec = host_exec(1), .cache = cache}};
  inlay::engine busy{shape, parts{.exec = host_exec(1), .cache = cache}};
  inlay::engine in_place{inlay::shape::one_table_per_field(1, 3), parts{.exec = host_exec(1)}};
  std::uint64_t hits = 0;
  for (std::uint64_t i = 0; i < 300; ++i) {
    auto const id = 1 + inlay::random_stream{5}.bits(i) % 6;
    touch(quiet, id);
    touch(busy, id);
    touch(in_place, id);
    // Cached rows as they are now, evicted ones as they left, ids 7 to 9 as they would begin.
    REQUIRE(read_rows(busy) == read_rows(in_place));
    REQUIRE(busy.figures().rows.hits == quiet.figures().rows.hits);
    hits = busy.figures().rows.hits;
  }
  CHECK(hits > 50);
  CHECK(hits < 250);
  CHECK(busy.figures().table_rows == 6);
}

TEST_CASE("lookup: sees cached rows as they are, and touches no order") {
  check_lookup_leaves_order(inlay::lru{});
  check_lookup_leaves_order(inlay::sieve{});
}

TEST_CASE("lookup: may run between begin and finish, and leaves the step as it was") {
  auto const batches = toy::some_batches(4, 200, 43);
  auto shape = toy::mixed_shape();
  shape.cache_rows = toy::smallest_cache(shape, batches);
  auto const train = [&](std::size_t lookups) {
    inlay::engine trainer{shape, parts{.exec = host_exec(2), .cache = inlay::lru{}}};
    toy::network net(toy::width_of(shape), toy::dense_width);
    net.attach_to(trainer);
    for (auto const& content : batches) {
      auto step = trainer.begin(content.view());
      for (auto chunk : step.chunks()) {
        for (std::size_t i = 0; i < lookups; ++i) {
          (void)trainer.lookup(batches[(i + 1) % 4].view());
        }
        net.train(chunk);
      }
      trainer.finish(std::move(step));
    }
    trainer.flush();
    return toy::outcome{toy::rows_of(trainer), net.all(), {}};
  };
  CHECK(train(0) == train(2));
}

TEST_CASE("flush: makes the tables true, again and again, and forgets nothing") {
  auto const batches = toy::some_batches(8, 60, 44);
  auto shape = toy::mixed_shape();
  auto const expected = toy::train(shape, parts{}, batches, 8);
  shape.cache_rows = 2000;
  inlay::engine trainer{shape, parts{.cache = inlay::lru{}}};
  toy::network net(toy::width_of(shape), toy::dense_width);
  net.attach_to(trainer);
  for (auto const& content : batches) {
    auto step = trainer.begin(content.view());
    net.train_all(step);
    trainer.flush();  // with rows pinned: they go on moving in the cache
    trainer.finish(std::move(step));
  }
  auto const misses = trainer.figures().rows.misses;
  CHECK(trainer.flush() == trainer.figures().table_rows);
  CHECK(toy::outcome{toy::rows_of(trainer), net.all(), {}} == expected);
  { auto const step = trainer.begin(batches[0].view()); }
  CHECK(trainer.figures().rows.misses == misses);
}

TEST_CASE("report: figures add up") {
  auto const batches = toy::some_batches(20, 60, 45);
  auto shape = toy::mixed_shape();
  auto const smallest = toy::smallest_cache(shape, batches);
  std::uint64_t ids = 0;
  for (auto const& content : batches) {
    ids += content.view().ids.size();
  }
  auto const check = [&](inlay::report const& figures, std::size_t table_rows) {
    CHECK(figures.steps == 20);
    CHECK(figures.samples == 1200);
    CHECK(figures.ids == ids);
    CHECK(figures.rows.hits + figures.rows.misses == figures.rows.unique);
    CHECK(figures.rows.unique <= ids);
    CHECK(figures.rows.created == table_rows);
    CHECK(figures.table_rows == table_rows);
    CHECK(figures.rows.created <= figures.rows.misses);
    CHECK(figures.dropped_steps == 0);
    CHECK(figures.bytes > 0);
  };
  auto const in_place = toy::train(shape, parts{}, batches, 20);
  check(in_place.figures, in_place.rows.size());
  CHECK(in_place.figures.rows.evictions == 0);
  CHECK(in_place.figures.rows.write_backs == 0);
  shape.cache_rows = smallest;
  auto const cached = toy::train(shape, parts{.cache = inlay::sieve{}}, batches, 20);
  check(cached.figures, in_place.rows.size());
  CHECK(cached.figures.rows.unique == in_place.figures.rows.unique);
  CHECK(cached.figures.rows.misses > in_place.figures.rows.misses);
  CHECK(cached.figures.rows.evictions > 0);
  CHECK(cached.figures.rows.evictions < cached.figures.rows.misses);
  CHECK(cached.figures.rows.write_backs > cached.figures.rows.evictions);  // and the flush
  for (auto const seconds : cached.figures.stage_seconds) {
    CHECK(seconds >= 0.0);
  }
}

// Streams.

/// Samples 0 .. size - 1, whose one id is their number; throws where it is told to.
struct counted_stream {
  std::uint64_t samples = 0;
  std::vector<inlay::sample_range> asked = {};
  std::uint64_t broken_from = ~std::uint64_t{0};
  inlay::batch content = {};

  [[nodiscard]] std::uint64_t size() const { return samples; }
  [[nodiscard]] inlay::batch_view read(inlay::sample_range range) {
    asked.push_back(range);
    if (range.last > broken_from) throw std::runtime_error("the disk is gone");
    content.reset({range.size(), 1, 0});
    for (auto i = range.first; i < range.last; ++i) {
      content.ids()[i - range.first] = i;
      content.labels()[i - range.first] = 0.0F;
    }
    return std::as_const(content).view();
  }
};
static_assert(inlay::sample_stream<counted_stream>);

inlay::shape stream_shape(std::size_t batch, std::size_t cache_rows = 0) {
  auto shape = inlay::shape::one_table_per_field(1, 2);
  shape.batch = batch;
  shape.cache_rows = cache_rows;
  return shape;
}

template <class Engine, class Step>
void finish_with_zeros(Engine& trainer, Step& step) {
  for (auto chunk : step.chunks()) {
    std::vector<float> const zeros(2 * chunk.rows());
    chunk.backward({zeros.data(), chunk.rows(), 2});
  }
  trainer.finish(std::move(step));
}

TEST_CASE("next: walks to the end, the last batch short, and then begins anew") {
  inlay::engine trainer{stream_shape(4), parts{.exec = host_exec(1)}};
  counted_stream stream{.samples = 10};
  auto const pass = [&] {
    std::vector<std::size_t> sizes;
    while (auto step = trainer.next(stream)) {
      sizes.push_back(step->rows());
      finish_with_zeros(trainer, *step);
    }
    return sizes;
  };
  CHECK(pass() == std::vector<std::size_t>{4, 4, 2});
  CHECK(trainer.figures().samples == 10);
  CHECK(trainer.figures().table_rows == 10);
  CHECK(pass() == std::vector<std::size_t>{4, 4, 2});
  CHECK(stream.asked.size() == 6);
}

TEST_CASE("next: a stream may grow while it is read; an empty one has no batch") {
  inlay::engine trainer{stream_shape(4), parts{.exec = host_exec(1)}};
  counted_stream empty;
  CHECK_FALSE(trainer.next(empty).has_value());
  counted_stream stream{.samples = 4};
  auto first = trainer.next(stream);
  finish_with_zeros(trainer, *first);
  stream.samples = 6;
  auto more = trainer.next(stream);
  REQUIRE(more.has_value());
  CHECK(more->rows() == 2);
}

TEST_CASE("next: what a stream throws comes through, and no sample is lost") {
  inlay::engine trainer{stream_shape(4), parts{.exec = host_exec(1)}};
  counted_stream stream{.samples = 10, .broken_from = 7};
  auto first = trainer.next(stream);
  REQUIRE(first.has_value());
  finish_with_zeros(trainer, *first);
  CHECK_THROWS_WITH_AS((void)trainer.next(stream), "the disk is gone", std::runtime_error);
  CHECK_THROWS_WITH_AS((void)trainer.next(stream), "the disk is gone", std::runtime_error);
  stream.broken_from = 100;
  while (auto step = trainer.next(stream)) {
    finish_with_zeros(trainer, *step);
  }
  CHECK(trainer.figures().table_rows == 10);
  CHECK(trainer.figures().dropped_steps == 0);
}

TEST_CASE("next: a dropped step is passed by, its samples too") {
  inlay::engine trainer{stream_shape(4, 4), parts{.exec = host_exec(1), .cache = inlay::lru{}}};
  counted_stream stream{.samples = 10};
  { auto const dropped = trainer.next(stream); }
  auto second = trainer.next(stream);
  REQUIRE(second.has_value());
  CHECK(stream.asked.back().first == 4);
  finish_with_zeros(trainer, *second);
  CHECK(trainer.figures().dropped_steps == 1);
  CHECK(trainer.figures().samples == 4);
}

TEST_CASE("next: a stream that reads fewer samples than it was asked for is an error") {
  struct short_stream : counted_stream {
    [[nodiscard]] inlay::batch_view read(inlay::sample_range range) {
      return counted_stream::read({range.first, range.last - 1});
    }
  };
  inlay::engine trainer{stream_shape(4), parts{.exec = host_exec(1)}};
  short_stream stream;
  stream.samples = 10;
  CHECK_THROWS_AS((void)trainer.next(stream), inlay::error);
}

}  // namespace
