#include <inlay/optim/adagrad.hpp>
#include <inlay/optim/adam.hpp>
#include <inlay/optim/ftrl.hpp>
#include <inlay/optim/momentum.hpp>
#include <inlay/optim/rowwise_adagrad.hpp>
#include <inlay/optim/sgd.hpp>
#include <inlay/optim/update_rows.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

// Rows that a rule moves on one core, as an engine lets it, beside a copy of the same bytes onto
// themselves: the least that reading and writing a row can cost. Rows are met in an order unlike
// that of memory, as in a step; bytes are those of weights and state, read and written, and of the
// gradient.

namespace {

constexpr std::size_t all_bytes = std::size_t{1} << 26U;  // more than a second-level cache holds

/// Writes back what it reads.
struct plain_copy {
  std::size_t state = 0;  // floats of the rule that it stands beside

  void check() const {}
  [[nodiscard]] std::size_t state_floats(std::size_t) const noexcept { return state; }
  void reset(inlay::span<float>) const noexcept {}
  void update(inlay::span<float> row, inlay::span<float> state_row,
              inlay::span<float const> gradient, inlay::update_context const&) const noexcept {
    inlay::add(row.data(), gradient.data(), row.size());
    for (auto& each : state_row) {
      each += 1.0F;
    }
  }
};

template <class Rule>
void update(benchmark::State& state, Rule const& rule, std::size_t dim) {
  auto const floats = dim + rule.state_floats(dim);
  auto const rows = all_bytes / (floats * sizeof(float));
  std::vector<float> table(rows * floats, 0.5F);
  std::vector<float> const gradient(dim, 1e-3F);
  for (auto _ : state) {
    for (std::size_t i = 0; i + inlay::row_block::most <= rows;) {
      inlay::row_block block(dim, rule.state_floats(dim));
      for (; block.size < inlay::row_block::most; ++i) {
        auto* const row = table.data() + (i * 7919 % rows) * floats;
        block.add(row, row + dim, gradient.data(), 1.0F);
      }
      inlay::update_rows(rule, block, inlay::step_id{100'000});
    }
    benchmark::ClobberMemory();
  }
  auto const moved = rows / inlay::row_block::most * inlay::row_block::most;
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(moved));
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(moved * (2 * floats + dim) * sizeof(float)));
}

template <class Rule>
void add(std::string const& name, Rule const& rule) {
  for (std::size_t const dim : {16U, 64U, 128U}) {
    auto const at = "/dim:" + std::to_string(dim);
    benchmark::RegisterBenchmark(
        ("optim/update/" + name + at).c_str(),
        [rule, dim](benchmark::State& state) { update(state, rule, dim); });
    benchmark::RegisterBenchmark(("optim/copy/" + name + at).c_str(),
                                 [rule, dim](benchmark::State& state) {
                                   update(state, plain_copy{rule.state_floats(dim)}, dim);
                                 });
  }
}

bool const added = [] {
  inlay::weight_decay const lazy{.rate = 1e-3F, .mode = inlay::decay_mode::lazy};
  add("sgd", inlay::sgd{});
  add("sgd_lazy_decay", inlay::sgd{.decay = lazy});
  add("momentum", inlay::momentum{});
  add("adagrad", inlay::adagrad{});
  add("rowwise_adagrad", inlay::rowwise_adagrad{});
  add("adam_row", inlay::adam{});
  add("adam_global", inlay::adam{.bias_clock = inlay::adam::clock::global});
  add("ftrl", inlay::ftrl{});
  return true;
}();

}  // namespace
