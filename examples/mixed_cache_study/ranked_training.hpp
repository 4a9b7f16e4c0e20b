#pragma once

#include "kept_samples.hpp"
#include "occurrence_exchanges.hpp"
#include "study_mapper.hpp"
#include "trained_parameters.hpp"

#include <inlay/cache/lru.hpp>
#include <inlay/cache/no_cache.hpp>
#include <inlay/core/one_of.hpp>
#include <inlay/core/sums.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/engine/key_log.hpp>
#include <inlay/engine/ranks.hpp>
#include <inlay/exchange/owner_all_to_all.hpp>
#include <inlay/exchange/pooled_all_to_all.hpp>
#include <inlay/exchange/run_ranks.hpp>
#include <inlay/exchange/thread_comm.hpp>
#include <inlay/exchange/virtual_all_reduce.hpp>
#include <inlay/exchange/virtual_gather_scatter.hpp>
#include <inlay/model/deepfm.hpp>
#include <inlay/model/log_loss.hpp>
#include <inlay/optim/rowwise_adagrad.hpp>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

using keyed_exchange =
    inlay::one_of<inlay::owner_all_to_all, inlay::virtual_all_reduce, inlay::virtual_gather_scatter,
                  occurrence_all_reduce, occurrence_gather_scatter>;
using any_sums = inlay::one_of<inlay::fast_sums, inlay::fixed_sums>;

/// One training of many: which ideas it has, and how large it is.
struct training_setup {
  std::size_t ranks = 2;
  std::size_t batch = 1024;  ///< of all ranks
  std::size_t steps = 60;
  std::size_t dim = 16;
  std::string exchange = inlay::owner_all_to_all::name;
  numbered_ids ids = numbered_ids::distinct;
  std::size_t cache_rows = 0;  ///< of each rank; 0: rows are used in the table
  std::size_t prefetch = 0;
  any_sums sums = inlay::fast_sums{};
  inlay::key_log* keys = nullptr;  ///< of a single rank
};

/// The upper one of the two in the middle, where there are two.
[[nodiscard]] inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// What comes of a training. The first half of its steps warms up caches and clocks.
struct trained {
  double step_ms = 0;            ///< median of the second half, on rank 0
  std::uint64_t sent_bytes = 0;  ///< by all ranks in all steps
  inlay::row_traffic rows;       ///< of all ranks, in the second half
  trained_parameters parameters;
};

/// Trains a setup on the first samples, each rank a thread.
class ranked_training {
 public:
  ranked_training(inlay::synthetic const& clicks, kept_samples& samples, training_setup const& how)
      : clicks_(clicks), samples_(samples), how_(how) {}

  [[nodiscard]] trained run() {
    using inlay::lru;
    using inlay::no_cache;
    using inlay::pooled_all_to_all;
    prepare();
    auto const cached = how_.cache_rows > 0;
    if (how_.exchange == pooled_all_to_all::name) {
      cached ? run_as(lru{}, pooled_all_to_all{}) : run_as(no_cache{}, pooled_all_to_all{});
    } else {
      auto const exchange = keyed_exchange::named(how_.exchange);
      cached ? run_as(lru{}, exchange) : run_as(no_cache{}, exchange);
    }
    return std::move(result_);
  }

 private:
  using clock = std::chrono::steady_clock;

  /// Reads the shares of all ranks.
  void prepare() {
    auto const chunk = inlay::visit(how_.sums, [&](auto const& sums) {
      return sums.pads_chunks ? sums.rows_a_chunk(how_.batch) : 1;
    });
    inlay::run_ranks(how_.ranks, [&](inlay::thread_comm const& comm) {
      inlay::ranks const all(comm, 1.0);
      for (std::uint64_t step = 0; step < how_.steps; ++step) {
        samples_.prepare(all.share_of({step * how_.batch, (step + 1) * how_.batch}, chunk));
      }
    });
  }

  template <class Cache, class Exchange>
  void run_as(Cache const& cache, Exchange const& exchange) {
    inlay::run_ranks(how_.ranks, [&](inlay::thread_comm const& comm) {
      auto shape = inlay::shape::one_table_per_field(clicks_.fields(), how_.dim);
      shape.batch = how_.batch;
      shape.cache_rows = how_.cache_rows;
      shape.prefetch = how_.prefetch;
      auto trainer = inlay::engine{
          shape, inlay::parts{.exec = inlay::host_exec(1),
                              .mapper = study_mapper{how_.ids},
                              .cache = cache,
                              .exchange = exchange,
                              .comm = comm,
                              .optimizer = inlay::rowwise_adagrad{.learning_rate = 0.05F,
                                                                  .initial_accumulator = 0.01F},
                              .sums = how_.sums}};
      train(trainer, comm.rank());
    });
  }

  template <class Trainer>
  void train(Trainer& trainer, std::size_t rank) {
    auto network = inlay::deepfm({.fields = clicks_.fields(),
                                  .dim = how_.dim,
                                  .dense_width = clicks_.dense_width(),
                                  .hidden = {32, 16}});
    inlay::log_loss loss;
    trainer.attach(network.parameters(), network.gradients());
    if (how_.keys != nullptr) trainer.attach(*how_.keys);
    first_samples samples(samples_, how_.steps * how_.batch);
    inlay::row_traffic warm;
    std::vector<double> ms;
    for (auto begun = clock::now(); auto step = trainer.next(samples);) {
      for (auto chunk : step->chunks()) {
        auto const logits = network.forward(chunk.pooled(), chunk.dense());
        chunk.backward(network.backward(loss(logits, chunk.labels())));
      }
      trainer.finish(std::move(*step));
      auto const ended = clock::now();
      ms.push_back(std::chrono::duration<double, std::milli>(ended - begun).count());
      if (ms.size() == how_.steps / 2) warm = trainer.figures().rows;
      begun = clock::now();
    }
    auto const figures = trainer.figures();
    std::lock_guard const lock(mutex_);
    add(figures, warm);
    result_.parameters.add_rows(trainer);
    if (rank > 0) return;
    result_.step_ms = median({ms.begin() + static_cast<std::ptrdiff_t>(how_.steps / 2), ms.end()});
    result_.parameters.add_network(network.parameters());
  }

  void add(inlay::report const& figures, inlay::row_traffic const& warm) {
    result_.sent_bytes += figures.sent_bytes;
    result_.rows.unique += figures.rows.unique - warm.unique;
    result_.rows.misses += figures.rows.misses - warm.misses;
    result_.rows.write_backs += figures.rows.write_backs - warm.write_backs;
  }

  inlay::synthetic const& clicks_;
  kept_samples& samples_;
  training_setup const& how_;
  std::mutex mutex_;
  trained result_;
};
