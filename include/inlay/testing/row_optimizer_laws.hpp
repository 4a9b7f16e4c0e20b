#pragma once

#include <inlay/batch/batch.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/random.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/optim/row_optimizer.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

namespace inlay::inline INLAY_ABI::testing {

namespace detail {

[[noreturn]] inline void optimizer_breaks(std::string const& law, std::size_t dim,
                                          std::uint64_t seed) {
  fail("a row optimizer must " + law + " (dim " + std::to_string(dim) + ", seed " +
       std::to_string(seed) + ")");
}

[[nodiscard]] inline bool same_bits(span<float const> left, span<float const> right) {
  return left.size() == right.size() &&
         (left.empty() || std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0);
}

/// A row with its state, each between guards that an update must leave alone.
class law_row {
 public:
  static constexpr float guard = -77.25F;

  template <row_optimizer Rule>
  law_row(Rule const& rule, std::size_t dim, std::uint64_t seed)
      : weights_(dim + 2, guard), state_(rule.state_floats(dim) + 2, guard) {
    for (std::size_t i = 0; i < dim; ++i) {
      weights()[i] = random_stream{seed}.normal(i);
    }
    std::fill(state().begin(), state().end(), std::numeric_limits<float>::quiet_NaN());
    rule.reset(state());
  }

  [[nodiscard]] span<float> weights() { return {weights_.data() + 1, weights_.size() - 2}; }
  [[nodiscard]] span<float> state() { return {state_.data() + 1, state_.size() - 2}; }
  [[nodiscard]] bool guards_stand() const {
    return weights_.front() == guard && weights_.back() == guard && state_.front() == guard &&
           state_.back() == guard;
  }

 private:
  std::vector<float> weights_;
  std::vector<float> state_;
};

[[nodiscard]] inline std::vector<float> law_gradient(std::size_t dim, float scale,
                                                     std::uint64_t seed) {
  std::vector<float> gradient(dim);
  for (std::size_t i = 0; i < dim; ++i) {
    gradient[i] = scale * random_stream{seed}.normal(i);
  }
  return gradient;
}

/// The row after some updates, the same for the same arguments.
template <row_optimizer Rule>
[[nodiscard]] law_row updated(Rule const& rule, std::size_t dim, float scale, std::int64_t steps,
                              std::uint64_t seed) {
  law_row row(rule, dim, seed);
  for (std::int64_t step = 0; step < steps; ++step) {
    auto const gradient = law_gradient(dim, scale, mix(seed, static_cast<std::uint64_t>(step)));
    auto const before = gradient;  // NOLINT(performance-unnecessary-copy-initialization): the law
    rule.update(row.weights(), row.state(), {gradient.data(), dim}, {.step = step_id{step}});
    if (gradient != before) optimizer_breaks("leave the gradient alone", dim, seed);
    if (!row.guards_stand()) optimizer_breaks("write its row and its state alone", dim, seed);
  }
  return row;
}

template <row_optimizer Rule>
void check_single_rows(Rule const& rule, std::size_t dim, std::uint64_t seed) {
  law_row fresh(rule, dim, seed);
  auto const finite = [](float value) { return std::isfinite(value); };
  if (!std::all_of(fresh.state().begin(), fresh.state().end(), finite)) {
    optimizer_breaks("reset all its state", dim, seed);
  }
  for (auto const scale : {0.0F, 1e-30F, 1e-12F, 1e-3F, 1.0F, 1e8F}) {
    auto once = updated(rule, dim, scale, 4, seed);
    auto again = updated(rule, dim, scale, 4, seed);
    if (!same_bits(once.weights(), again.weights()) || !same_bits(once.state(), again.state())) {
      optimizer_breaks("do the same to the same row", dim, seed);
    }
    if (!std::all_of(once.weights().begin(), once.weights().end(), finite) ||
        !std::all_of(once.state().begin(), once.state().end(), finite)) {
      optimizer_breaks("keep rows finite under gradients of size " + std::to_string(scale), dim,
                       seed);
    }
  }
}

/// The weights of one row, trained on a bag that holds its id `times` times, each with gradient
/// `slope`.
template <class Optimizer>
[[nodiscard]] std::vector<float> trained_row(Optimizer const& optimizer, std::size_t dim,
                                             std::size_t times, float slope, std::uint64_t seed) {
  auto facts = shape::one_table_per_field(1, dim);
  facts.seed = seed;
  engine trainer{facts, parts{.exec = host_exec(1), .optimizer = optimizer}};
  batch content;
  content.reset_bags({1, 1, 0});
  std::vector<raw_id> const ids(times, 7);
  content.add_bag({ids.data(), ids.size()});
  content.labels()[0] = 0.0F;
  for (std::uint64_t number = 0; number < 3; ++number) {
    auto step = trainer.begin(content.view());
    auto const gradient = law_gradient(dim, slope, mix(seed, number));
    for (auto chunk : step.chunks()) {
      chunk.backward({gradient.data(), 1, dim});
    }
    trainer.finish(std::move(step));
  }
  std::vector<float> result;
  trainer.for_each_row(
      [&](table_id, raw_id, span<float const> row) { result.assign(row.begin(), row.end()); });
  return result;
}

}  // namespace detail

/// Law: an id that stands several times in a batch moves as one with the sum of its gradients, bit
/// for bit. `optimizer` may be a one_of.
template <class Optimizer>
void check_duplicates(Optimizer const& optimizer, std::uint64_t seed = 1) {
  for (std::size_t const dim : {1U, 4U, 13U, 16U, 33U}) {
    for (std::size_t const times : {2U, 4U}) {  // powers of two: the sum is exact
      auto const sum = detail::trained_row(optimizer, dim, 1, static_cast<float>(times), seed);
      auto const parts = detail::trained_row(optimizer, dim, times, 1.0F, seed);
      if (sum.empty() ||
          !detail::same_bits({sum.data(), sum.size()}, {parts.data(), parts.size()})) {
        detail::optimizer_breaks("move a repeated id as one with the summed gradient", dim, seed);
      }
    }
  }
}

/// Law of rules that treat each column by itself, which not all do: what becomes of a column does
/// not depend on the width of the row or the column's place in it.
template <row_optimizer Rule>
void check_columns(Rule const& rule, std::uint64_t seed = 1) {
  constexpr std::size_t widest = 67;
  for (std::size_t dim = 1; dim <= widest; ++dim) {
    for (std::size_t const place : {std::size_t{0}, std::size_t{1}, widest - dim}) {
      if (place + dim > widest) continue;
      detail::law_row wide(rule, widest, seed);
      detail::law_row row(rule, dim, seed);
      std::copy_n(wide.weights().data() + place, dim, row.weights().begin());
      for (std::int64_t step = 0; step < 3; ++step) {
        auto const gradient =
            detail::law_gradient(widest, 1.0F, mix(seed, static_cast<std::uint64_t>(step)));
        rule.update(wide.weights(), wide.state(), {gradient.data(), widest},
                    {.step = step_id{step}});
        rule.update(row.weights(), row.state(), {gradient.data() + place, dim},
                    {.step = step_id{step}});
      }
      if (!detail::same_bits(row.weights(), wide.weights().subspan(place, dim))) {
        detail::optimizer_breaks("treat a column the same in a row of any width", dim, seed);
      }
    }
  }
}

/// Checks the laws of every `row_optimizer`; throws `error` with the one that does not hold.
template <row_optimizer Rule>
void check_row_optimizer(Rule const& rule, std::uint64_t seed = 1) {
  for (std::size_t const dim : {1U, 2U, 7U, 8U, 16U, 17U, 64U}) {
    detail::check_single_rows(rule, dim, seed);
  }
  check_duplicates(rule, seed);
}

}  // namespace inlay::inline INLAY_ABI::testing
