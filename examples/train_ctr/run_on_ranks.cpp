#include "run_on_ranks.hpp"

#include <inlay/engine/engine.hpp>
#include <inlay/exchange/owner_all_to_all.hpp>
#include <inlay/exchange/pooled_all_to_all.hpp>
#include <inlay/exchange/run_ranks.hpp>
#include <inlay/exchange/thread_comm.hpp>
#include <inlay/exchange/virtual_all_reduce.hpp>
#include <inlay/exchange/virtual_gather_scatter.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <mutex>

namespace {

using any_key_exchange = inlay::one_of<inlay::owner_all_to_all, inlay::virtual_all_reduce,
                                       inlay::virtual_gather_scatter>;

/// Where ranks leave what the first one reports.
struct shared_results {
  std::mutex lock;
  inlay::report figures;
  saved_rows rows;
};

/// Rows and bytes are sums over the ranks; steps and samples are those of each.
void add_rank(inlay::report& all, inlay::report const& one) {
  auto const ids = all.ids + one.ids;
  auto const rows = [&] {
    auto sum = all.rows;
    return sum += one.rows;
  }();
  auto const table_rows = all.table_rows + one.table_rows;
  auto const bytes = all.bytes + one.bytes;
  auto const sent = all.sent_bytes + one.sent_bytes;
  if (all.steps == 0) all = one;
  all.ids = ids;
  all.rows = rows;
  all.table_rows = table_rows;
  all.bytes = bytes;
  all.sent_bytes = sent;
}

/// Waits for the others, who may have to finish what they are at.
void meet(inlay::thread_comm const& comm) {
  comm.barrier(std::chrono::steady_clock::now() + std::chrono::minutes(10));
}

template <class Parts>
void run_rank(Parts const& parts, train_options const& options, train_data const& data,
              run_outputs& outputs, shared_results& shared) {
  auto const comm = parts.comm;
  bool const reports = comm.rank() == 0;
  inlay::engine trainer(shape_of(options, data), parts);
  auto const all = [&](inlay::report const& own) {
    {
      std::lock_guard const guard(shared.lock);
      add_rank(shared.figures, own);
    }
    meet(comm);
    return shared.figures;
  };
  auto const save = [&](auto& own, auto parameters) {
    if (!outputs.parameters.wanted()) return;
    {
      std::lock_guard const guard(shared.lock);
      shared.rows.add(own);
    }
    meet(comm);
    if (reports) shared.rows.write(parameters, outputs.parameters);
  };
  run(trainer, options, data, reports ? &outputs : nullptr, all, save);
}

template <class Cache, class Exchange>
void run_with(Cache const& cache, Exchange const& exchange, train_options const& options,
              train_data const& data, run_outputs& outputs) {
  shared_results shared;
  inlay::run_ranks(options.ranks, [&](inlay::thread_comm const& comm) {
    run_rank(inlay::parts{.exec = inlay::host_exec{std::max<std::size_t>(1, options.threads /
                                                                                options.ranks)},
                          .cache = cache,
                          .exchange = exchange,
                          .comm = comm,
                          .optimizer = optimizer_of(options),
                          .sums = sums_of(options)},
             options, data, outputs, shared);
  });
}

template <class Cache>
void run_with(Cache const& cache, train_options const& options, train_data const& data,
              run_outputs& outputs) {
  if (options.exchange == inlay::pooled_all_to_all::name) {
    run_with(cache, inlay::pooled_all_to_all{}, options, data, outputs);
  } else {
    run_with(cache, any_key_exchange::named(options.exchange), options, data, outputs);
  }
}

}  // namespace

void run_on_ranks(train_options const& options, train_data const& data, run_outputs& outputs) {
  if (options.cache_rows == 0) {
    run_with(inlay::no_cache{}, options, data, outputs);
  } else {
    run_with(options.policy, options, data, outputs);
  }
}
