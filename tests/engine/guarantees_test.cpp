// A step is applied as a whole or not at all, whatever goes wrong and whenever.

#include "engine/training.hpp"
#include "failing_new.hpp"

#include <inlay/cache/lru.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/optim/sgd.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <new>
#include <optional>
#include <stdexcept>
#include <utility>
#include <vector>

namespace {

using doctest::Contains;
using inlay::error;
using inlay::fixed_sums;
using inlay::host_exec;
using inlay::parts;

/// One field of width 2; the ids of a batch are 0, 1, 2, ...
inlay::shape plain_shape() { return inlay::shape::one_table_per_field(1, 2); }

inlay::batch counted_batch(std::size_t rows) {
  inlay::batch result;
  result.reset({rows, 1, 0});
  for (std::size_t row = 0; row < rows; ++row) {
    result.ids()[row] = row;
    result.labels()[row] = 0.0F;
  }
  return result;
}

/// Gives every row of a chunk the gradient `value`, padding rows none.
template <class Chunk>
void give(Chunk const& chunk, std::size_t rows, float value) {
  std::vector<float> gradient(chunk.rows() * 2, 0.0F);
  std::fill_n(gradient.begin(), 2 * rows, value);
  chunk.backward({gradient.data(), chunk.rows(), 2});
}

/// LRU that throws at a call of our choice, after its work is done.
struct throwing_policy : inlay::lru {
  static inline int calls_left = -1;
  static void count() {
    if (calls_left >= 0 && calls_left-- == 0) throw std::runtime_error("tired");
  }

  void on_insert(inlay::span<slot_state> slots, set_state& set, inlay::way_id way,
                 inlay::cache_access const& use) const {
    inlay::lru::on_insert(slots, set, way, use);
    count();
  }
  void on_hit(inlay::span<slot_state> slots, set_state& set, inlay::way_id way,
              inlay::cache_access const& use) const {
    inlay::lru::on_hit(slots, set, way, use);
    count();
  }
};

}  // namespace

TEST_CASE("engine: memory that runs out in finish moves nothing, or the step is applied whole") {
  for (long n = 0;; ++n) {
    auto shape = plain_shape();
    inlay::engine trainer{
        shape, parts{.exec = host_exec(2), .optimizer = inlay::sgd{1.0F}, .sums = fixed_sums{}}};
    auto const content = counted_batch(2000);
    auto step = std::optional(trainer.begin(content));
    std::size_t left = 2000;
    for (auto chunk : step->chunks()) {
      auto const rows = std::min<std::size_t>(left, 128);
      give(chunk, rows, 2000.0F);
      left -= rows;
    }
    auto const before = toy::rows_of(trainer);
    bool const failed = failing_new::fails(n, [&] { trainer.finish(std::move(*step)); });
    step.reset();
    std::size_t moved = 0;
    for (auto const& [name, row] : toy::rows_of(trainer)) {
      if (row != before.at(name)) ++moved;
    }
    CAPTURE(n);
    CHECK(moved == (failed ? 0U : 2000U));
    if (!failed) break;
  }
}

TEST_CASE("engine: a step that finish refused needs all its gradients again") {
  inlay::engine trainer{plain_shape(), parts{.optimizer = inlay::sgd{1.0F}, .sums = fixed_sums{}}};
  std::vector<float> weight(1, 0.0F);
  std::vector<float> slope(1, 1.0F);
  inlay::matrix_view<float> const value{weight.data(), 1, 1};
  inlay::matrix_view<float const> const gradient{slope.data(), 1, 1};
  trainer.attach({&value, 1}, {&gradient, 1});

  inlay::batch content;  // one id in all 256 rows, so that its sum can overflow
  content.reset({256, 1, 0});
  for (std::size_t row = 0; row < 256; ++row) {
    content.ids()[row] = 5;
    content.labels()[row] = 0.0F;
  }
  auto step = trainer.begin(content);
  auto const give_all = [&](float second) {
    std::size_t number = 0;
    for (auto chunk : step.chunks()) {
      give(chunk, 128, number++ == 0 ? 1.0F : second);
    }
  };
  give_all(std::numeric_limits<float>::max() / 2);
  CHECK_THROWS_WITH_AS(trainer.finish(std::move(step)), Contains("not finite"), error);
  give(*++step.chunks().begin(), 128, 1.0F);
  CHECK_THROWS_WITH_AS(trainer.finish(std::move(step)), Contains("had no backward"), error);
  CHECK(weight[0] == 0.0F);
  give_all(1.0F);
  trainer.finish(std::move(step));
  CHECK(weight[0] == -2.0F / 256.0F);
}

TEST_CASE("engine: a cache policy that throws at any call leaves every row as it was") {
  for (int calls = 0; calls < 12; ++calls) {
    auto shape = plain_shape();
    shape.cache_rows = 6;
    inlay::engine trainer{shape, parts{.cache = throwing_policy{}, .optimizer = inlay::sgd{1.0F}}};
    inlay::engine plain{plain_shape(), parts{.optimizer = inlay::sgd{1.0F}}};
    auto const content = counted_batch(6);
    auto const train = [&](auto& engine) {
      auto step = engine.begin(content);
      for (auto chunk : step.chunks())
        give(chunk, chunk.rows(), 1.0F);
      engine.finish(std::move(step));
    };
    throwing_policy::calls_left = calls;
    bool threw = false;
    for (int round = 0; round < 2; ++round) {
      try {
        train(trainer);
        train(plain);
      } catch (std::runtime_error const&) {
        threw = true;
      }
    }
    throwing_policy::calls_left = -1;
    CAPTURE(calls);
    CHECK(threw);
    trainer.flush();
    for (auto const& [name, row] : toy::rows_of(trainer)) {
      auto const expected = toy::rows_of(plain);
      if (expected.count(name) != 0) CHECK(row == expected.at(name));
    }
    train(trainer);  // nothing is pinned for good
  }
}

TEST_CASE("engine: after the end of a stream the next one begins at its first sample") {
  struct stream {
    std::size_t samples;
    inlay::batch content{};
    [[nodiscard]] std::uint64_t size() const { return samples; }
    inlay::batch_view read(inlay::sample_range range) {
      content = counted_batch(range.size());
      return content.view();
    }
  };
  auto shape = plain_shape();
  shape.batch = 10;
  inlay::engine trainer{shape, parts{}};
  auto const steps_of = [&](std::size_t samples) {
    stream day{samples};
    std::size_t steps = 0;
    while (auto step = trainer.next(day)) {
      for (auto chunk : step->chunks())
        give(chunk, chunk.rows(), 1.0F);
      trainer.finish(std::move(*step));
      ++steps;
    }
    return steps;
  };
  CHECK(steps_of(40) == 4);
  CHECK(steps_of(40) == 4);
  CHECK(steps_of(25) == 3);
  stream day{40};
  for (int i = 0; i < 3; ++i) {
    auto step = trainer.next(day);
    for (auto chunk : step->chunks())
      give(chunk, chunk.rows(), 1.0F);
    trainer.finish(std::move(*step));
  }
  stream shorter{20};
  CHECK_THROWS_WITH_AS((void)trainer.next(shorter), Contains("further than this stream goes"),
                       error);
}

TEST_CASE("engine: rows that a failed step has created are counted") {
  auto shape = plain_shape();
  shape.cache_rows = 8;
  inlay::engine trainer{shape, parts{.cache = throwing_policy{}}};
  throwing_policy::calls_left = 2;
  CHECK_THROWS_AS((void)trainer.begin(counted_batch(5)), std::runtime_error);
  throwing_policy::calls_left = -1;
  CHECK(trainer.figures().table_rows == 5);
  CHECK(trainer.figures().rows.created == 5);
}

TEST_CASE("engine: a gradient written where it belongs is as good as one that is copied") {
  auto const shape = toy::mixed_shape();
  auto const batches = toy::some_batches(4, 300, 77);
  auto const trained = [&](bool in_place) {
    inlay::engine trainer{shape, inlay::parts{.exec = host_exec(2), .sums = inlay::fixed_sums{}}};
    for (auto const& content : batches) {
      auto step = trainer.begin(content.view());
      for (auto chunk : step.chunks()) {
        auto const pooled = chunk.pooled();
        std::vector<float> own(pooled.rows * pooled.cols);
        auto const into = in_place
                              ? chunk.pooled_gradient()
                              : inlay::matrix_view<float>(own.data(), pooled.rows, pooled.cols);
        for (std::size_t row = 0; row < pooled.rows; ++row) {
          for (std::size_t col = 0; col < pooled.cols; ++col) {
            into.row(row)[col] = chunk.labels().weights[row] * (pooled.row(row)[col] + 0.5F);
          }
        }
        chunk.backward(into);
      }
      trainer.finish(std::move(step));
    }
    return toy::rows_of(trainer);
  };
  CHECK(trained(true) == trained(false));
}

TEST_CASE("engine: a loss that forgets the weights of padding rows is found") {
  inlay::engine trainer{plain_shape(), parts{.sums = fixed_sums{}}};
  auto step = trainer.begin(counted_batch(3));
  auto const chunk = *step.chunks().begin();
  CHECK(chunk.rows() == 128);
  CHECK_THROWS_WITH_AS(give(chunk, 128, 1.0F), Contains("padding row"), error);
  give(chunk, 3, 1.0F);
  trainer.finish(std::move(step));
  CHECK_THROWS_WITH_AS((void)step.chunks(), Contains("this step is finished"), error);
  CHECK(step.rows() == 0);
}

TEST_CASE("engine: a gradient of another shape is refused with both shapes") {
  inlay::engine trainer{plain_shape(), parts{.exec = host_exec(2)}};
  auto step = trainer.begin(counted_batch(4));
  std::vector<float> const gradient(8);
  CHECK_THROWS_WITH_AS((*step.chunks().begin()).backward({gradient.data(), 4, 2}),
                       Contains("chunk 0 are 2 x 2, and their gradient is 4 x 2"), error);
}

TEST_CASE("shape: a table of absurd width is refused before memory is asked for") {
  auto shape = plain_shape();
  shape.tables[0].dim = std::size_t{1} << 60U;
  CHECK_THROWS_WITH_AS((inlay::engine{shape, parts{}}), Contains("columns"), error);
}
