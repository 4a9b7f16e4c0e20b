// Rows that are kept stay in the cache whatever else comes.

#include "engine/training.hpp"

#include <inlay/cache/fifo.hpp>
#include <inlay/cache/set_associative.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/exchange/run_ranks.hpp>
#include <inlay/exchange/thread_comm.hpp>
#include <inlay/table/after.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace {

using doctest::Contains;
using inlay::error;
using inlay::parts;
using inlay::raw_id;
using inlay::table_id;

inlay::shape one_table(std::size_t cache_rows) {
  auto shape = inlay::shape::one_table_per_field(1, 2);
  shape.cache_rows = cache_rows;
  return shape;
}

inlay::batch ids_from(raw_id first, std::size_t rows) {
  inlay::batch result;
  result.reset({rows, 1, 0});
  for (std::size_t row = 0; row < rows; ++row) {
    result.ids()[row] = first + row;
    result.labels()[row] = 0.0F;
  }
  return result;
}

template <class Trainer>
void train(Trainer& trainer, inlay::batch const& content) {
  auto step = trainer.begin(content);
  for (auto chunk : step.chunks()) {
    chunk.backward(chunk.pooled());
  }
  trainer.finish(std::move(step));
}

std::vector<raw_id> const kept{1, 2, 3, 2};

}  // namespace

TEST_CASE("engine: rows that are kept hit for good, and others have the slots that are left") {
  inlay::engine trainer{one_table(8), parts{.cache = inlay::fifo{}}};
  trainer.keep(table_id{0}, {kept.data(), kept.size()});
  CHECK(trainer.figures().rows.created == 3);
  for (raw_id round = 0; round < 20; ++round) {
    train(trainer, ids_from(100 + 5 * round, 5));
  }
  auto const before = trainer.figures().rows;
  train(trainer, ids_from(1, 3));
  CHECK(trainer.figures().rows.hits == before.hits + 3);
  CHECK_THROWS_WITH_AS(train(trainer, ids_from(1000, 6)), Contains("kept"), error);
  train(trainer, ids_from(1, 8));  // three of them are kept
}

TEST_CASE("engine: rows to keep that do not fit are an error, and none is kept") {
  inlay::engine trainer{one_table(4), parts{.cache = inlay::fifo{}}};
  std::vector<raw_id> const many{1, 2, 3, 4, 5};
  CHECK_THROWS_AS(trainer.keep(table_id{0}, {many.data(), many.size()}), error);
  train(trainer, ids_from(50, 4));
  CHECK_THROWS_WITH_AS(trainer.keep(table_id{7}, {many.data(), 1}),
                       Contains("a table that there is"), error);
  raw_id const large = ~raw_id{0};
  CHECK_THROWS_WITH_AS(trainer.keep(table_id{0}, {&large, 1}), Contains("does not fit"), error);
  auto step = trainer.begin(ids_from(1, 1));
  CHECK_THROWS_WITH_AS(trainer.keep(table_id{0}, {many.data(), 1}),
                       Contains("while no step is open"), error);
}

TEST_CASE("engine: to keep rows changes no bit, in sets and without a cache as well") {
  auto const rows_after = [](auto&& trainer) {
    trainer.keep(table_id{0}, {kept.data(), kept.size()});
    for (raw_id round = 0; round < 20; ++round) {
      train(trainer, ids_from(3 * round, 5));
    }
    trainer.flush();
    return toy::rows_of(trainer);
  };
  auto const truth = rows_after(inlay::engine{one_table(16), parts{.cache = inlay::fifo{}}});
  CHECK(rows_after(inlay::engine{one_table(32),
                                 parts{.cache = inlay::fifo{},
                                       .organisation = inlay::set_associative<16>{
                                           .overflow = inlay::set_overflow::spill}}}) == truth);
  auto in_place = rows_after(inlay::engine{one_table(0), parts{}});
  CHECK(in_place == truth);
}

TEST_CASE("engine: rows that are kept are there with and without a cache, whatever is admitted") {
  inlay::after const admit{.uses = 100};
  auto const created = [&](auto&& trainer) {
    trainer.keep(table_id{0}, {kept.data(), kept.size()});
    train(trainer, ids_from(0, 5));
    CHECK(trainer.figures().rows.refused == 2);
    return toy::rows_of(trainer);
  };
  auto const cached =
      created(inlay::engine{one_table(8), parts{.admit = admit, .cache = inlay::fifo{}}});
  CHECK(cached.size() == 3);
  CHECK(created(inlay::engine{one_table(0), parts{.admit = admit}}).size() == 3);
}

TEST_CASE("engine: each rank keeps the rows that it owns") {
  std::atomic<std::uint64_t> all = 0;
  inlay::run_ranks(3, [&](inlay::thread_comm const& comm) {
    inlay::engine trainer{one_table(8), parts{.cache = inlay::fifo{}, .comm = comm}};
    trainer.keep(table_id{0}, {kept.data(), kept.size()});
    all += trainer.figures().table_rows;
    train(trainer, ids_from(1 + comm.rank(), 2));
    CHECK(trainer.figures().rows.created <= 3);
  });
  CHECK(all == 3);
}
