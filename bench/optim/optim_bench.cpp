#include <inlay/optim/adagrad.hpp>
#include <inlay/optim/rowwise_adagrad.hpp>
#include <inlay/optim/sgd.hpp>

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <vector>

// Rows that a rule moves on one core. Rows are met in an order unlike that of memory, as in a step;
// bytes are those of weights and state, read and written, and of the gradient.

namespace {

constexpr std::size_t rows = 1U << 17U;

template <class Rule>
void update(benchmark::State& state) {
  auto const dim = static_cast<std::size_t>(state.range(0));
  Rule const rule{};
  auto const floats = dim + rule.state_floats(dim);
  std::vector<float> table(rows * floats, 0.5F);
  std::vector<float> const gradient(dim, 1e-3F);
  for (auto _ : state) {
    for (std::size_t i = 0; i < rows; ++i) {
      auto* const row = table.data() + (i * 7919 % rows) * floats;
      rule.update({row, dim}, {row + dim, floats - dim}, {gradient.data(), dim}, {});
    }
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * static_cast<std::int64_t>(rows));
  state.SetBytesProcessed(state.iterations() *
                          static_cast<std::int64_t>(rows * (2 * floats + dim) * sizeof(float)));
}

BENCHMARK_TEMPLATE(update, inlay::sgd)->Name("optim/update/sgd")->ArgName("dim")->Arg(16)->Arg(64);
BENCHMARK_TEMPLATE(update, inlay::adagrad)
    ->Name("optim/update/adagrad")
    ->ArgName("dim")
    ->Arg(16)
    ->Arg(64);
BENCHMARK_TEMPLATE(update, inlay::rowwise_adagrad)
    ->Name("optim/update/rowwise_adagrad")
    ->ArgName("dim")
    ->Arg(16)
    ->Arg(64);

}  // namespace
