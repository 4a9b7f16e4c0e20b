// Leases: whatever the order in which batches are prefetched, begun, finished and dropped, every
// row is what it would be had none ever moved.

#include "engine/training.hpp"

#include <inlay/cache/lru.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/core/shuffled_exec.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/testing/trial.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using doctest::Contains;
using inlay::error;
using inlay::host_exec;
using inlay::lru;
using inlay::parts;

template <class Exec, class Cache>
auto cached_parts(Exec const& exec, Cache const& cache) {
  return parts{.exec = exec,
               .cache = cache,
               .optimizer =
                   inlay::rowwise_adagrad{.learning_rate = 0.05F, .initial_accumulator = 0.01F}};
}

/// An engine whose rows come ahead through a small cache, beside one whose rows never move.
template <class Parts>
class model_check {
 public:
  using engine_type = inlay::engine<Parts>;

  model_check(Parts const& parts, std::size_t window, std::uint64_t seed)
      : with_("leases", seed),
        batches_(toy::some_batches(8, 5, seed)),
        truth_(toy::mixed_shape(), in_place()),
        trainer_(shape_for(window), parts),
        net_(toy::width_of(toy::mixed_shape()), toy::dense_width),
        truth_net_(net_),
        window_(window) {
    net_.attach_to(trainer_);
    truth_net_.attach_to(truth_);
  }

  void run(std::size_t events) {
    for (std::size_t event = 0; event < events; ++event) {
      auto const kind = with_.below(100);
      if (kind < 40 && leases_.size() + (step_ ? 1 : 0) < window_) {
        auto const at = with_.below(batches_.size());
        leases_.push_back({at, trainer_.prefetch(batches_[at])});
      } else if (kind < 60 && !step_ && !leases_.empty()) {
        begin();
      } else if (kind < 80 && step_) {
        finish();
      } else if (kind < 85 && step_) {
        step_.reset();
        ++dropped_steps_;
      } else if (kind < 90 && !leases_.empty()) {
        leases_.erase(leases_.begin() + static_cast<std::ptrdiff_t>(with_.below(leases_.size())));
        ++dropped_leases_;
      } else if (kind < 96) {
        look_up();
      } else {
        trainer_.flush();
      }
    }
    auto const figures = trainer_.figures();
    with_.require(figures.dropped_leases == dropped_leases_, "leases that are dropped are counted");
    with_.require(figures.dropped_steps == dropped_steps_, "steps that are dropped are counted");
    trainer_.flush();
    auto const rows = toy::rows_of(trainer_);
    for (auto const& [name, row] : toy::rows_of(truth_)) {
      with_.require(rows.at(name) == row, "after a flush the table holds every row as it is");
    }
    with_.require(net_.all() == truth_net_.all(), "the network is as it would be");
  }

 private:
  struct ahead {
    std::size_t batch;
    inlay::lease<engine_type> rows;
  };

  [[nodiscard]] static auto in_place() {
    return parts{.exec = host_exec(1),
                 .optimizer =
                     inlay::rowwise_adagrad{.learning_rate = 0.05F, .initial_accumulator = 0.01F}};
  }
  [[nodiscard]] inlay::shape shape_for(std::size_t window) const {
    auto shape = toy::mixed_shape();
    // Any batches may be in flight together, not only neighbours.
    shape.cache_rows = window * toy::smallest_cache(shape, batches_);
    return shape;
  }

  void begin() {
    auto const at = with_.below(leases_.size());
    at_hand_ = leases_[at].batch;
    step_.emplace(trainer_.begin(std::move(leases_[at].rows)));
    leases_.erase(leases_.begin() + static_cast<std::ptrdiff_t>(at));
    auto truth = truth_.begin(batches_[at_hand_]);
    auto const expected = (*truth.chunks().begin()).pooled();
    auto const seen = (*step_->chunks().begin()).pooled();
    with_.require(std::equal(expected.data, expected.data + expected.size(), seen.data),
                  "a step sees all updates before it");
  }

  void finish() {
    auto truth = truth_.begin(batches_[at_hand_]);
    truth_net_.train_all(truth);
    truth_.finish(std::move(truth));
    net_.train_all(*step_);
    trainer_.finish(std::move(*step_));
    step_.reset();
  }

  void look_up() {
    auto const& content = batches_[with_.below(batches_.size())];
    auto const expected = truth_.lookup(content).pooled;
    auto const seen = trainer_.lookup(content).pooled;
    with_.require(std::equal(expected.data, expected.data + expected.size(), seen.data),
                  "a look-up sees all updates before it");
  }

  inlay::testing::trial with_;
  std::vector<inlay::batch> batches_;
  inlay::engine<decltype(in_place())> truth_;
  engine_type trainer_;
  toy::network net_;
  toy::network truth_net_;
  std::size_t window_;
  std::vector<ahead> leases_;
  std::optional<inlay::step<engine_type>> step_;
  std::size_t at_hand_ = 0;
  std::uint64_t dropped_leases_ = 0;
  std::uint64_t dropped_steps_ = 0;
};

inlay::batch counted_batch(std::size_t first, std::size_t rows) {
  inlay::batch result;
  result.reset({rows, 1, 0});
  for (std::size_t row = 0; row < rows; ++row) {
    result.ids()[row] = first + row;
    result.labels()[row] = 0.0F;
  }
  return result;
}

auto small_engine(std::size_t cache_rows, std::size_t prefetch = 0) {
  auto shape = inlay::shape::one_table_per_field(1, 2);
  shape.cache_rows = cache_rows;
  shape.prefetch = prefetch;
  shape.batch = 4;
  using parts_type = decltype(parts{.exec = host_exec(2), .cache = lru{}});
  return std::make_unique<inlay::engine<parts_type>>(shape,
                                                     parts{.exec = host_exec(2), .cache = lru{}});
}

template <class Trainer, class Step>
void finish(Trainer& trainer, Step&& step) {
  for (auto chunk : step.chunks()) {
    chunk.backward(chunk.pooled());
  }
  trainer.finish(std::move(step));
}

/// Samples 0, 1, 2, ..., of which one fails to be read a few times.
struct failing_stream {
  std::uint64_t samples = 40;
  std::uint64_t broken = 20;
  int failures = 1;
  inlay::batch content = {};

  [[nodiscard]] std::uint64_t size() const { return samples; }
  inlay::batch_view read(inlay::sample_range range) {
    if (range.first == broken && failures-- > 0) throw std::runtime_error("torn page");
    content = counted_batch(range.first, range.size());
    return content.view();
  }
};

}  // namespace

TEST_CASE("engine: leases begun, finished and dropped in any order lose no update, on a thread") {
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    model_check(cached_parts(host_exec(1), lru{}), 1 + seed % 4, seed).run(60);
    model_check(cached_parts(host_exec(1), inlay::sieve{}), 1 + seed % 4, seed).run(60);
  }
}

TEST_CASE("engine: leases lose no update on streams that put work off, under 1,000 seeds") {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    model_check(cached_parts(inlay::shuffled_exec(seed), lru{}), 1 + seed % 4, seed).run(40);
  }
}

TEST_CASE("engine: a lease begins once, and with its own engine") {
  auto trainer = small_engine(8);
  auto other = small_engine(8);
  auto lease = trainer->prefetch(counted_batch(0, 4));
  static_assert(!std::is_copy_constructible_v<decltype(lease)>);
  CHECK(lease.rows() == 4);
  CHECK_THROWS_WITH_AS((void)other->begin(std::move(lease)), Contains("begins once"), error);
  finish(*trainer, trainer->begin(std::move(lease)));
  CHECK(lease.rows() == 0);
  CHECK_THROWS_WITH_AS((void)trainer->begin(std::move(lease)), Contains("begins once"), error);
  lease = trainer->prefetch(counted_batch(0, 4));
  lease = trainer->prefetch(counted_batch(4, 4));  // the first is dropped
  auto& same = lease;
  lease = std::move(same);
  CHECK(lease.rows() == 4);
  finish(*trainer, trainer->begin(std::move(lease)));
  CHECK(trainer->figures().dropped_leases == 1);
  CHECK(trainer->figures().steps == 2);
}

TEST_CASE("engine: a lease or a step that outlives its engine is of no use, and does no harm") {
  auto trainer = small_engine(16);
  auto lease = trainer->prefetch(counted_batch(0, 4));
  auto second = trainer->prefetch(counted_batch(4, 4));
  auto step = trainer->begin(std::move(second));
  trainer.reset();
  auto next = small_engine(16);  // perhaps at the same address
  CHECK_THROWS_WITH_AS((void)next->begin(std::move(lease)), Contains("with its own engine"), error);
  CHECK_THROWS_WITH_AS(next->finish(std::move(step)), Contains("by its own engine"), error);
}

TEST_CASE("engine: rows that do not fit beside those of other leases are an error of their lease") {
  auto trainer = small_engine(8);
  auto first = trainer->prefetch(counted_batch(0, 5));
  auto second = trainer->prefetch(counted_batch(100, 4));
  auto third = trainer->prefetch(counted_batch(2, 5));  // three of the five are there
  finish(*trainer, trainer->begin(std::move(first)));
  CHECK_THROWS_WITH_AS((void)trainer->begin(std::move(second)),
                       Contains("needs 4 rows of width 2 in the cache at once, and it can have 3 "
                                "of 8 beside 1 step in flight"),
                       error);
  finish(*trainer, trainer->begin(std::move(third)));
  finish(*trainer, trainer->begin(counted_batch(100, 8)));  // nothing is pinned for good
  CHECK(trainer->figures().steps == 3);
  CHECK(trainer->figures().ids == 18);
}

TEST_CASE("engine: a batch that can't be mapped is an error of its lease") {
  auto trainer = small_engine(8);
  auto content = counted_batch(0, 2);
  content.ids()[1] = ~std::uint64_t{0};
  auto lease = trainer->prefetch(content);
  content.ids()[1] = 1;  // its memory is free: this changes nothing
  CHECK_THROWS_WITH_AS((void)trainer->begin(std::move(lease)), Contains("does not fit"), error);
  auto dropped = std::optional(trainer->prefetch(content));
  dropped.reset();
  finish(*trainer, trainer->begin(content));
  CHECK(trainer->figures().dropped_leases == 1);
}

TEST_CASE("engine: one step is open at a time, and leases may wait for it") {
  auto trainer = small_engine(16);
  auto step = trainer->begin(counted_batch(0, 4));
  auto lease = trainer->prefetch(counted_batch(2, 4));
  CHECK_THROWS_WITH_AS((void)trainer->begin(std::move(lease)), Contains("finish or drop"), error);
  CHECK(lease.rows() == 4);
  finish(*trainer, std::move(step));
  auto second = trainer->begin(std::move(lease));
  CHECK_THROWS_WITH_AS((void)trainer->begin(counted_batch(0, 1)), Contains("finish or drop"),
                       error);
  finish(*trainer, std::move(second));
}

TEST_CASE("engine: what fails while reading ahead comes up in its turn, and training goes on") {
  for (auto const prefetch : {0U, 1U, 3U, 20U}) {
    CAPTURE(prefetch);
    auto trainer = small_engine(200, prefetch);
    failing_stream samples;
    std::size_t steps = 0;
    std::size_t failed_at = 0;
    for (;;) {
      try {
        auto step = trainer->next(samples);
        if (!step) break;
        CHECK((*step->chunks().begin()).rows() > 0);
        finish(*trainer, std::move(*step));
        ++steps;
      } catch (std::runtime_error const& wrong) {
        CHECK(std::string(wrong.what()) == "torn page");
        failed_at = steps;
      }
    }
    CHECK(failed_at == 5);
    CHECK(steps == 10);
    CHECK(trainer->figures().samples == 40);
    auto again = failing_stream{.samples = 8, .failures = 0};
    CHECK(trainer->next(again)->rows() == 4);  // from the beginning
  }
}

TEST_CASE("engine: training stops at any moment, and another stream goes on where it stopped") {
  for (auto const prefetch : {0U, 2U}) {
    auto trainer = small_engine(200, prefetch);
    failing_stream samples{.failures = 0};
    finish(*trainer, *trainer->next(samples));
    finish(*trainer, *trainer->next(samples));
    failing_stream other{.samples = 20, .failures = 0};
    std::size_t rows = 0;
    while (auto step = trainer->next(other)) {
      rows += step->rows();
      finish(*trainer, std::move(*step));
    }
    CHECK(rows == 12);
    CHECK(trainer->figures().dropped_leases == (prefetch == 0 ? 0 : 2));
    CHECK(trainer->next(samples)->rows() == 4);
    trainer->rewind();
    std::size_t all = 0;
    while (auto step = trainer->next(other)) {
      all += step->rows();
      finish(*trainer, std::move(*step));
    }
    CHECK(all == 20);
    (void)trainer->next(samples);
    trainer->forget_ahead();
    CHECK(trainer->figures().dropped_leases == (prefetch == 0 ? 0 : 6));
    (void)trainer->next(samples);
  }  // and with steps ahead
}
