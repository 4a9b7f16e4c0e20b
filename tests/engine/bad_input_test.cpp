#include "engine/training.hpp"

#include <inlay/cache/lru.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/optim/adagrad.hpp>
#include <inlay/optim/sgd.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

// Bad input is a sentence, changes nothing, and training goes on.

namespace {

using doctest::Contains;
using inlay::error;
using inlay::host_exec;
using inlay::parts;

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr float infinity = std::numeric_limits<float>::infinity();

/// One id a bag: bag f * rows + r holds ids[f * rows + r].
inlay::batch batch_of(std::size_t rows, std::vector<inlay::raw_id> const& ids) {
  inlay::batch result;
  result.reset({rows, ids.size() / rows, toy::dense_width});
  std::copy(ids.begin(), ids.end(), result.ids().begin());
  for (std::size_t row = 0; row < rows; ++row) {
    result.labels()[row] = static_cast<float>(row % 2);
    for (auto& feature : result.dense().row(row)) {
      feature = 0.5F;
    }
  }
  return result;
}

inlay::shape small_shape(std::size_t cache_rows = 0) {
  auto shape = inlay::shape::one_table_per_field(2, 4);
  shape.cache_rows = cache_rows;
  return shape;
}

/// An engine with a network, and what tests do with both.
template <class Parts>
struct trained {
  trained(inlay::shape const& shape, Parts const& parts)
      : trainer{shape, parts}, net(toy::width_of(shape), toy::dense_width) {
    net.attach_to(trainer);
  }

  void step(inlay::batch const& content) {
    auto step = trainer.begin(content.view());
    net.train_all(step);
    trainer.finish(std::move(step));
  }
  /// All parameters as they are now.
  [[nodiscard]] toy::outcome state() {
    trainer.flush();
    return {toy::rows_of(trainer), net.all(), {}};
  }

  inlay::engine<Parts> trainer;
  toy::network net;
};
template <class Parts>
trained(inlay::shape, Parts) -> trained<Parts>;

TEST_CASE("engine: an id that a key can't hold is named with its field and table") {
  trained it{small_shape(), parts{.exec = host_exec(2)}};
  it.step(batch_of(2, {1, 2, 3, 4}));
  auto const before = it.state();
  auto const bad = batch_of(2, {1, 2, 3, std::uint64_t{1} << 48U});
  auto const* const sentence =
      "id 281474976710656 of field 1 does not fit into a narrow key of table 1";
  CHECK_THROWS_WITH_AS((void)it.trainer.begin(bad.view()), Contains(sentence), error);
  CHECK_THROWS_WITH_AS((void)it.trainer.lookup(bad.view()), Contains(sentence), error);
  CHECK(it.state() == before);
  it.step(batch_of(2, {1, 2, 3, (std::uint64_t{1} << 48U) - 1}));
  CHECK(it.trainer.figures().steps == 2);
}

template <class Cache>
void check_too_large(Cache const& cache) {
  trained it{small_shape(5), parts{.cache = cache}};
  auto const fits = batch_of(2, {1, 2, 3, 4});
  it.step(fits);
  auto const before = it.state();
  auto const figures = it.trainer.figures();
  auto const large = batch_of(3, {1, 2, 5, 6, 7, 8});
  CHECK_THROWS_WITH_AS((void)it.trainer.begin(large.view()),
                       Contains("a step needs 6 rows of width 4 in the cache at once, and it can "
                                "have 5 of 5: raise cache_rows or lower the batch"),
                       error);
  CHECK(it.state() == before);
  CHECK(it.trainer.figures().table_rows == figures.table_rows);
  CHECK(it.trainer.figures().rows.unique == figures.rows.unique);
  CHECK(it.trainer.figures().dropped_steps == 0);
  it.step(fits);
  CHECK(it.trainer.figures().rows.hits == figures.rows.hits + 4);
  it.step(batch_of(2, {5, 6, 7, 8}));
}

TEST_CASE(
    "engine: a batch larger than the cache says how many rows it needs, and changes nothing") {
  check_too_large(inlay::lru{});
  check_too_large(inlay::sieve{});
}

TEST_CASE("engine: a batch that fits one width and not the other changes nothing") {
  auto shape = small_shape(3);
  shape.tables[1].dim = 8;
  trained it{shape, parts{.cache = inlay::lru{}}};
  // Ids 1 and 2 of both tables are cached, one slot is free.
  it.step(batch_of(2, {1, 2, 1, 2}));
  auto const before = it.state();
  // Field 0 needs two rows, field 1 four.
  CHECK_THROWS_WITH_AS((void)it.trainer.begin(batch_of(4, {7, 8, 7, 8, 1, 2, 3, 4}).view()),
                       Contains("4 rows of width 8"), error);
  CHECK(it.state().dense == before.dense);
  for (auto const& [name, row] : before.rows) {
    CHECK(it.state().rows.at(name) == row);
  }
  CHECK(it.trainer.figures().table_rows == before.rows.size());
  // Nothing is pinned: three rows of each width fit again, two times.
  it.step(batch_of(3, {4, 5, 6, 4, 5, 6}));
  it.step(batch_of(3, {7, 8, 9, 7, 8, 9}));
}

TEST_CASE("engine: an optimizer with knobs that make no sense is refused by a sentence") {
  auto const with = [](auto rule) { inlay::engine{small_shape(), parts{.optimizer = rule}}; };
  auto const not_a_number = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_WITH_AS(with(inlay::sgd{.learning_rate = not_a_number}), Contains("learning rate"),
                       error);
  CHECK_THROWS_WITH_AS(with(inlay::adagrad{.epsilon = 0}), Contains("epsilon"), error);
  CHECK_THROWS_WITH_AS(with(inlay::rowwise_adagrad{.initial_accumulator = -1}),
                       Contains("initial accumulator"), error);
}

TEST_CASE("engine: one step at a time, for a second one would read rows before their update") {
  trained it{small_shape(6), parts{.cache = inlay::lru{}}};
  auto first = std::optional(it.trainer.begin(batch_of(2, {1, 2, 3, 4}).view()));
  CHECK_THROWS_WITH_AS((void)it.trainer.begin(batch_of(2, {5, 6, 7, 8}).view()),
                       Contains("finish or drop the step at hand"), error);
  first.reset();
  CHECK(it.trainer.figures().dropped_steps == 1);
  it.step(batch_of(3, {5, 6, 7, 8, 9, 10}));
}

/// A pooled gradient of zeros but for one value.
std::vector<float> spoiled(std::size_t size, std::size_t at, float value) {
  std::vector<float> result(size);
  result[at] = value;
  return result;
}

TEST_CASE("engine: a pooled gradient that is not finite names table and id, and nothing moves") {
  auto shape = small_shape();
  shape.tables = {{.name = "user", .dim = 4}, {.name = "item", .dim = 9}};
  trained it{shape, parts{.exec = host_exec(2)}};
  auto const good = batch_of(3, {10, 11, 12, 20, 21, 22});
  it.step(good);
  auto const before = it.state();
  for (auto const value : {nan, infinity, -infinity}) {
    auto step = it.trainer.begin(good.view());
    for (auto chunk : step.chunks()) {
      it.net.differentiate(chunk, it.net.last());
      if (chunk.number() + 1 < step.chunks().size()) {
        chunk.backward({it.net.last().pooled.data(), chunk.rows(), 13});
        continue;
      }
      // The batch's last row, field 1 (columns 4 to 12).
      auto const bad = spoiled(chunk.rows() * 13, (chunk.rows() - 1) * 13 + 6, value);
      CHECK_THROWS_WITH_AS(chunk.backward({bad.data(), chunk.rows(), 13}),
                           Contains("the gradient of id 22 of table item is not finite (row 2 of "
                                    "the batch, column 6, step 1)"),
                           error);
      CHECK_THROWS_WITH_AS(it.trainer.finish(std::move(step)), Contains("had no backward"), error);
    }
  }
  CHECK(it.state() == before);
  CHECK(it.trainer.figures().dropped_steps == 3);
  it.step(good);
  CHECK(it.trainer.figures().steps == 2);
}

TEST_CASE("engine: a pooled gradient that is not finite may be mended within its step") {
  trained it{small_shape(), parts{.exec = host_exec(1)}};
  trained other{small_shape(), parts{.exec = host_exec(1)}};
  auto const good = batch_of(2, {1, 2, 3, 4});
  auto step = it.trainer.begin(good.view());
  auto const bad = spoiled(16, 0, nan);
  auto const chunk = *step.chunks().begin();
  CHECK_THROWS_AS(chunk.backward({bad.data(), 2, 8}), error);
  it.net.train(chunk);
  it.trainer.finish(std::move(step));
  other.step(good);
  CHECK(it.state() == other.state());
}

TEST_CASE("engine: a good gradient that was followed by one that is not finite is gone") {
  trained it{small_shape(), parts{.exec = host_exec(1)}};
  auto const good = batch_of(2, {1, 2, 3, 4});
  auto step = it.trainer.begin(good.view());
  auto const chunk = *step.chunks().begin();
  it.net.train(chunk);
  auto const before = it.state();
  auto const bad = spoiled(16, 0, nan);
  CHECK_THROWS_AS(chunk.backward({bad.data(), 2, 8}), error);
  CHECK_THROWS_WITH_AS(it.trainer.finish(std::move(step)), Contains("had no backward"), error);
  CHECK(it.state() == before);
}

TEST_CASE("engine: a gradient of an empty bag that is not finite is refused too") {
  inlay::batch content;
  content.reset_bags({1, 2, 0});
  content.add_bag({});
  content.add_bag({});
  inlay::engine trainer{small_shape(), parts{.exec = host_exec(1)}};
  auto step = trainer.begin(content.view());
  auto const bad = spoiled(8, 7, infinity);
  CHECK_THROWS_WITH_AS((*step.chunks().begin()).backward({bad.data(), 1, 8}),
                       Contains("the gradient of an empty bag is not finite"), error);
}

TEST_CASE("engine: an attached gradient that is not finite is named, and nothing moves") {
  trained it{small_shape(), parts{.exec = host_exec(1)}};
  auto const good = batch_of(2, {1, 2, 3, 4});
  it.step(good);
  auto const before = it.state();
  {
    auto step = it.trainer.begin(good.view());
    auto const chunk = *step.chunks().begin();
    it.net.differentiate(chunk, it.net.last());
    it.net.last().linear[1] = nan;
    CHECK_THROWS_WITH_AS(chunk.backward({it.net.last().pooled.data(), 2, 8}),
                         Contains("the gradient of attached parameter 1 is not finite"), error);
    CHECK_THROWS_WITH_AS(it.trainer.finish(std::move(step)), Contains("had no backward"), error);
  }
  CHECK(it.state() == before);
  it.step(good);
}

/// Trains one step whose gradients are finite one by one; returns what finish says.
template <class Trained>
std::string said_by_finish(Trained& it, inlay::batch const& content, float pooled, float attached) {
  auto step = it.trainer.begin(content.view());
  for (auto chunk : step.chunks()) {
    it.net.differentiate(chunk, it.net.last());
    auto const width = it.net.width();
    for (std::size_t row = 0; row < chunk.rows(); ++row) {
      it.net.last().pooled[row * width] = pooled;
    }
    it.net.last().linear[0] = attached;
    chunk.backward({it.net.last().pooled.data(), chunk.rows(), width});
  }
  try {
    it.trainer.finish(std::move(step));
  } catch (error const& found) {
    return found.sentence();
  }
  return "nothing";
}

constexpr float huge = 3e38F;

TEST_CASE("engine: row gradients that add up to infinity are refused, and nothing moves") {
  trained it{small_shape(), parts{.exec = host_exec(1), .optimizer = inlay::sgd{}}};
  // Rows of field 0: 5 once, 7 twice. Only the sum of 7 overflows, after 5 was looked at.
  auto const content = batch_of(3, {5, 7, 7, 1, 2, 3});
  it.step(content);
  auto const before = it.state();
  CHECK(said_by_finish(it, content, huge, 0.0F).find("id 7 of table C1 is not finite") !=
        std::string::npos);
  CHECK(it.state() == before);
  it.step(content);
}

TEST_CASE("engine: attached gradients that add up to infinity are refused, and nothing moves") {
  trained it{small_shape(),
             parts{.exec = host_exec(1), .optimizer = inlay::sgd{}, .sums = inlay::fixed_sums{}}};
  std::vector<inlay::raw_id> const ids(600, 1);
  auto const content = batch_of(300, ids);
  it.step(content);
  auto const before = it.state();
  CHECK(said_by_finish(it, content, 0.0F, huge).find("attached parameter 1") != std::string::npos);
  CHECK(it.state() == before);
  it.step(content);
}

TEST_CASE("engine: weights that are not finite never reach the tables") {
  trained it{small_shape(), parts{.exec = host_exec(1)}};
  it.step(batch_of(2, {1, 2, 3, 4}));
  auto const before = it.state();
  inlay::batch content;
  content.reset_bags({1, 2, toy::dense_width});
  inlay::raw_id const ids[] = {1, 2};
  float const weights[] = {1.0F, nan};
  content.add_bag({ids, 2}, {weights, 2});
  inlay::raw_id const other = 3;
  content.add_bag({&other, 1});
  content.labels()[0] = 1.0F;
  for (auto& feature : content.dense().row(0)) {
    feature = 0.0F;
  }
  try {
    auto step = it.trainer.begin(content.view());
    // A network that clips its gradients hides what the pooled rows hold.
    for (auto chunk : step.chunks()) {
      it.net.last().pooled.assign(8, 1.0F);
      chunk.backward({it.net.last().pooled.data(), 1, 8});
    }
    it.trainer.finish(std::move(step));
    FAIL("trained on a weight that is not a number");
  } catch (error const&) {}
  CHECK(it.state() == before);
}

TEST_CASE("engine: a shape that makes no sense is a sentence") {
  auto const refused = [](inlay::shape const& shape, char const* sentence) {
    CHECK_THROWS_WITH_AS((inlay::engine{shape, parts{}}), Contains(sentence), error);
  };
  auto shape = small_shape();
  shape.field_tables.clear();
  refused(shape, "a shape needs at least one field");
  shape = small_shape();
  shape.tables.clear();
  refused(shape, "a shape needs at least one table");
  shape = small_shape();
  shape.field_tables[1] = inlay::table_id{9};
  refused(shape, "field 1 reads table 9, and there are 2");
  shape = small_shape();
  shape.tables[1].dim = 0;
  refused(shape, "table C2 has no columns");
  shape = small_shape();
  shape.tables[0].learning_rate_factor = nan;
  refused(shape, "table C1 must be finite");
  shape = small_shape();
  shape.dense_learning_rate_factor = infinity;
  refused(shape, "dense learning-rate factor must be finite");
  shape = small_shape();
  shape.batch = 0;
  refused(shape, "a global batch needs at least one sample");
  shape = small_shape(10);
  refused(shape, "cache_rows is set, but parts.cache is no_cache");
  CHECK_THROWS_WITH_AS((inlay::engine{small_shape(), parts{.cache = inlay::lru{}}}),
                       Contains("parts.cache names a policy, but cache_rows is 0"), error);
}

TEST_CASE("engine: a batch of another shape is a sentence") {
  trained it{small_shape(), parts{}};
  CHECK_THROWS_WITH_AS((void)it.trainer.begin(batch_of(1, {1, 2, 3}).view()),
                       Contains("the batch has 3 fields and the shape 2"), error);
  auto const good = batch_of(2, {1, 2, 3, 4});
  auto view = good.view();
  view.labels = {};
  CHECK_THROWS_WITH_AS((void)it.trainer.begin(view), Contains("needs a label for every row"),
                       error);
  CHECK(it.trainer.lookup(view).pooled.rows == 2);
  view = good.view();
  view.fields = 0;
  CHECK_THROWS_WITH_AS((void)it.trainer.begin(view), Contains("at least one field"), error);
  view = good.view();
  view.offsets = view.offsets.first(4);
  CHECK_THROWS_WITH_AS((void)it.trainer.begin(view), Contains("needs 5 offsets, not 4"), error);
  view = good.view();
  view.ids = view.ids.first(3);
  CHECK_THROWS_AS((void)it.trainer.begin(view), error);
  CHECK(it.trainer.figures().table_rows == 0);
  it.step(good);
}

TEST_CASE("engine: gradients of another shape are a sentence") {
  trained it{small_shape(), parts{.exec = host_exec(1)}};
  auto step = it.trainer.begin(batch_of(2, {1, 2, 3, 4}).view());
  auto const chunk = *step.chunks().begin();
  std::vector<float> const zeros(100);
  CHECK_THROWS_WITH_AS(chunk.backward({zeros.data(), 1, 8}),
                       Contains("chunk 0 are 2 x 8, and their gradient is 1 x 8"), error);
  CHECK_THROWS_WITH_AS(chunk.backward({zeros.data(), 2, 7}),
                       Contains("chunk 0 are 2 x 8, and their gradient is 2 x 7"), error);
  CHECK_THROWS_WITH_AS(chunk.backward({zeros.data(), 2, 8}, {}),
                       Contains("one gradient for each attached parameter"), error);
  std::vector<inlay::matrix_view<float const>> const wrong{{zeros.data(), 2, 8},
                                                           {zeros.data(), 1, 3}};
  CHECK_THROWS_WITH_AS(chunk.backward({zeros.data(), 2, 8}, {wrong.data(), 2}),
                       Contains("a gradient must have the shape of its parameter"), error);
}

TEST_CASE("engine: parameters are attached once, before the first step, with their gradients") {
  std::vector<float> values(8);
  inlay::matrix_view<float> const parameter{values.data(), 2, 4};
  inlay::matrix_view<float const> const slope{values.data(), 2, 4};
  inlay::matrix_view<float const> const turned{values.data(), 4, 2};
  inlay::engine trainer{small_shape(), parts{.exec = host_exec(1)}};
  CHECK_THROWS_WITH_AS(trainer.attach({&parameter, 1}, {}), Contains("needs a gradient"), error);
  CHECK_THROWS_WITH_AS(trainer.attach({&parameter, 1}, {&turned, 1}), Contains("differ in shape"),
                       error);
  trainer.attach({&parameter, 1}, {&slope, 1});
  CHECK_THROWS_WITH_AS(trainer.attach({&parameter, 1}, {&slope, 1}), Contains("attached once"),
                       error);
  inlay::engine late{small_shape(), parts{.exec = host_exec(1)}};
  auto step = late.begin(batch_of(2, {1, 2, 3, 4}).view());
  std::vector<float> const zeros(16);
  (*step.chunks().begin()).backward({zeros.data(), 2, 8});
  late.finish(std::move(step));
  CHECK_THROWS_WITH_AS(late.attach({&parameter, 1}, {&slope, 1}), Contains("before the first step"),
                       error);
}

TEST_CASE("engine: parameters can't be attached while a step is under way") {
  // The step's memory was laid out without them.
  std::vector<float> values(8);
  inlay::matrix_view<float> const parameter{values.data(), 2, 4};
  inlay::matrix_view<float const> const slope{values.data(), 2, 4};
  inlay::engine trainer{small_shape(), parts{.exec = host_exec(1)}};
  auto const step = trainer.begin(batch_of(2, {1, 2, 3, 4}).view());
  CHECK_THROWS_AS(trainer.attach({&parameter, 1}, {&slope, 1}), error);
}

TEST_CASE("engine: a step is finished once, whole, and by its own engine") {
  trained it{small_shape(8), parts{.exec = host_exec(1), .cache = inlay::lru{}}};
  trained other{small_shape(8), parts{.exec = host_exec(1), .cache = inlay::lru{}}};
  auto step = it.trainer.begin(batch_of(2, {1, 2, 3, 4}).view());
  CHECK_THROWS_WITH_AS(it.trainer.finish(std::move(step)),
                       Contains("chunk 0 of the step had no backward"), error);
  it.net.train_all(step);
  auto const* const sentence = "a step is finished once, by its own engine";
  CHECK_THROWS_WITH_AS(other.trainer.finish(std::move(step)), Contains(sentence), error);
  it.trainer.finish(std::move(step));
  CHECK_THROWS_WITH_AS(it.trainer.finish(std::move(step)), Contains(sentence), error);
  CHECK(it.trainer.figures().steps == 1);
  CHECK(it.trainer.figures().dropped_steps == 0);
  CHECK(other.trainer.figures().dropped_steps == 0);
  it.step(batch_of(4, {11, 12, 13, 14, 15, 16, 17, 18}));
}

TEST_CASE("engine: a dropped step is counted, changes nothing and holds no rows") {
  trained it{small_shape(4), parts{.cache = inlay::lru{}}};
  it.step(batch_of(2, {1, 2, 3, 4}));
  auto before = it.state();
  for (int i = 0; i < 3; ++i) {
    auto step = it.trainer.begin(batch_of(2, {1, 2, 3, 4}).view());
    it.net.train_all(step);
    auto moved = std::move(step);  // one step, wherever it goes
  }
  CHECK(it.trainer.figures().dropped_steps == 3);
  CHECK(it.state() == before);
  it.step(batch_of(2, {5, 6, 7, 8}));
  CHECK(it.trainer.figures().steps == 2);
  CHECK(it.trainer.figures().samples == 4);
}

TEST_CASE("engine: an exception in the user's loop drops the step, and training goes on") {
  for (std::size_t threads = 1; threads <= 2; ++threads) {
    trained it{small_shape(4), parts{.exec = host_exec(threads), .cache = inlay::sieve{}}};
    auto const content = batch_of(2, {1, 2, 3, 4});
    it.step(content);
    auto const before = it.state();
    auto const one_by_one = [&] {
      auto step = it.trainer.begin(content.view());
      for (auto chunk : step.chunks()) {
        it.net.train(chunk);
        throw std::runtime_error("one by one");
      }
    };
    auto const side_by_side = [&] {
      auto step = it.trainer.begin(content.view());
      step.each_chunk([](auto const& chunk, std::size_t) {
        throw std::runtime_error("chunk " + std::to_string(chunk.number()));
      });
    };
    CHECK_THROWS_WITH_AS(one_by_one(), "one by one", std::runtime_error);
    CHECK_THROWS_WITH_AS(side_by_side(), "chunk 0", std::runtime_error);
    CHECK(it.trainer.figures().dropped_steps == 2);
    CHECK(it.state() == before);
    it.step(batch_of(2, {5, 6, 7, 8}));
  }
}

}  // namespace
