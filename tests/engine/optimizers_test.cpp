#include "engine/training.hpp"

#include <inlay/cache/sieve.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/optim/adagrad.hpp>
#include <inlay/optim/adam.hpp>
#include <inlay/optim/ftrl.hpp>
#include <inlay/optim/linear_decay.hpp>
#include <inlay/optim/momentum.hpp>
#include <inlay/optim/sgd.hpp>
#include <inlay/optim/step_decay.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

// What an engine owes its optimizer: the same bits whatever the parts, rates by samples, clipping.

namespace {

using any_optimizer = inlay::one_of<inlay::sgd, inlay::momentum, inlay::adagrad,
                                    inlay::rowwise_adagrad, inlay::adam, inlay::ftrl>;

/// The rule alone in place, then among others in place and behind a cache that is full at once.
template <class Rule>
void check_same_bits(Rule const& rule) {
  CAPTURE(rule.name);
  auto shape = toy::mixed_shape();
  auto const batches = toy::some_batches(12, 60, 41);
  constexpr std::size_t steps = 60;
  auto const alone = toy::train(shape, inlay::parts{.exec = inlay::host_exec(2), .optimizer = rule},
                                batches, steps);
  auto const among_others =
      toy::train(shape, inlay::parts{.exec = inlay::host_exec(2), .optimizer = any_optimizer{rule}},
                 batches, steps);
  CHECK(among_others == alone);
  shape.cache_rows = toy::smallest_cache(shape, batches);
  auto const cached = toy::train(shape,
                                 inlay::parts{.exec = inlay::host_exec(2),
                                              .cache = inlay::sieve{},
                                              .optimizer = any_optimizer{rule}},
                                 batches, steps);
  CHECK(cached == alone);
  CHECK(cached.figures.rows.evictions > 0);
  CHECK_FALSE(alone.dense == toy::train(shape,
                                        inlay::parts{.exec = inlay::host_exec(2),
                                                     .cache = inlay::sieve{},
                                                     .optimizer = any_optimizer{rule}},
                                        batches, 1)
                                 .dense);
}

TEST_CASE("engine: engines of different parts give the same bits by every optimizer") {
  inlay::weight_decay const lazy{.rate = 0.1F, .mode = inlay::decay_mode::lazy};
  check_same_bits(inlay::sgd{.learning_rate = 0.1F});
  check_same_bits(inlay::sgd{.learning_rate = 0.1F, .decay = lazy});
  check_same_bits(inlay::momentum{.learning_rate = 0.05F, .decay = lazy});
  check_same_bits(inlay::adagrad{.learning_rate = 0.1F, .decay = lazy});
  check_same_bits(inlay::rowwise_adagrad{.learning_rate = 0.1F, .decay = lazy});
  check_same_bits(inlay::adam{.learning_rate = 0.02F, .decay = lazy});
  check_same_bits(inlay::adam{.learning_rate = 0.02F, .bias_clock = inlay::adam::clock::global});
  check_same_bits(inlay::ftrl{.l1 = 1e-3F});
}

TEST_CASE("engine: a schedule multiplies all rates, by the samples applied before a step") {
  // Steps at 0, 40, 80 and 120 samples: 1, 1, 1/4, 1/4; and by hand with a rate per step.
  auto const shape = toy::mixed_shape();
  auto const batches = toy::some_batches(4, 40, 42);
  inlay::sgd const rule{.learning_rate = 0.2F};
  auto const scheduled = toy::train(
      shape,
      inlay::parts{.optimizer = rule, .schedule = inlay::step_decay{.every = 80, .ratio = 0.25F}},
      batches, 4);
  auto slow = rule;
  slow.learning_rate *= 0.25F;
  using any_schedule = inlay::one_of<inlay::constant_rate, inlay::step_decay>;
  auto const constant =
      toy::train(shape, inlay::parts{.optimizer = rule, .schedule = any_schedule{}}, batches, 2);
  CHECK(toy::train(shape,
                   inlay::parts{.optimizer = rule,
                                .schedule = any_schedule{inlay::step_decay{.every = 80}}},
                   batches, 2) == constant);
  CHECK_FALSE(scheduled == toy::train(shape, inlay::parts{.optimizer = rule}, batches, 4));

  // A schedule that ends at zero freezes everything from there on.
  auto const frozen =
      toy::train(shape,
                 inlay::parts{.optimizer = rule,
                              .schedule = any_schedule{inlay::step_decay{.every = 80, .ratio = 0}}},
                 batches, 4);
  CHECK(frozen.dense == constant.dense);
  for (auto const& [name, row] : constant.rows) {
    CHECK(frozen.rows.at(name) == row);
  }
  CHECK_THROWS_WITH_AS(
      (inlay::engine{shape, inlay::parts{.schedule = inlay::linear_decay{.warm_up = 10}}}),
      doctest::Contains("end after its warm-up"), inlay::error);
}

/// One parameter tensor and one row, moved by sgd at rate one against these gradients.
struct moved {
  std::vector<float> dense;
  std::uint64_t clipped;
};

template <class Sums>
moved move_once(std::vector<float> const& gradient, float clip_norm, std::size_t threads,
                Sums const& sums) {
  auto shape = inlay::shape::one_table_per_field(1, 2);
  shape.dense_clip_norm = clip_norm;
  inlay::engine trainer{shape, inlay::parts{.exec = inlay::host_exec(threads),
                                            .optimizer = inlay::sgd{.learning_rate = 1.0F},
                                            .sums = sums}};
  std::vector<float> values(gradient.size());
  inlay::matrix_view<float> const tensors[]{{values.data(), 1, 2},
                                            {values.data() + 2, 1, values.size() - 2}};
  inlay::matrix_view<float const> const slopes[]{{gradient.data(), 1, 2},
                                                 {gradient.data() + 2, 1, values.size() - 2}};
  trainer.attach({tensors, 2}, {slopes, 2});
  inlay::batch content;
  content.reset({1, 1, 0});
  content.ids()[0] = 3;
  content.labels()[0] = 0.0F;
  auto step = trainer.begin(content.view());
  std::vector<float> const pooled(2 * 128);
  for (auto chunk : step.chunks()) {
    chunk.backward({pooled.data(), chunk.rows(), 2});
  }
  trainer.finish(std::move(step));
  return {values, trainer.figures().clipped_steps};
}

TEST_CASE("engine: dense gradients are clipped by the norm of all of them together") {
  auto const clipped = move_once({3.0F, 0.0F, 0.0F, -4.0F}, 1.0F, 1, inlay::fast_sums{});
  CHECK(clipped.dense[0] == doctest::Approx(-0.6));
  CHECK(clipped.dense[3] == doctest::Approx(0.8));
  CHECK(clipped.clipped == 1);
  for (auto const norm : {0.0F, 5.0F, 100.0F}) {  // none, as long, longer
    auto const whole = move_once({3.0F, 0.0F, 0.0F, -4.0F}, norm, 1, inlay::fast_sums{});
    CHECK(whole.dense == std::vector<float>{-3.0F, 0.0F, 0.0F, 4.0F});
    CHECK(whole.clipped == 0);
  }
  // Squares that no float holds, and none at all.
  auto const huge = move_once({3e30F, 0.0F, 0.0F, -4e30F}, 1.0F, 1, inlay::fast_sums{});
  CHECK(huge.dense[3] == doctest::Approx(0.8));
  CHECK(move_once({0.0F, 0.0F, 0.0F}, 1.0F, 1, inlay::fast_sums{}).clipped == 0);
}

TEST_CASE("engine: the norm that clips does not depend on threads") {
  std::vector<float> gradient(50'003);
  for (std::size_t i = 0; i < gradient.size(); ++i) {
    gradient[i] = inlay::random_stream{8}.normal(i);
  }
  auto const one = move_once(gradient, 0.1F, 1, inlay::fixed_sums{});
  CHECK(move_once(gradient, 0.1F, 2, inlay::fixed_sums{}).dense == one.dense);
  CHECK(move_once(gradient, 0.1F, 3, inlay::fixed_sums{}).dense == one.dense);
  double squares = 0.0;
  for (auto const value : one.dense) {
    squares += double{value} * value;
  }
  CHECK(std::sqrt(squares) == doctest::Approx(0.1).epsilon(1e-5));
}

TEST_CASE("engine: a norm without sense is refused") {
  auto shape = toy::mixed_shape();
  for (auto const norm : {-1.0F, std::numeric_limits<float>::infinity()}) {
    shape.dense_clip_norm = norm;
    CHECK_THROWS_WITH_AS((inlay::engine{shape, inlay::parts{}}),
                         doctest::Contains("the norm to clip"), inlay::error);
  }
}

}  // namespace
