#pragma once

#include <inlay/core/error.hpp>

#include <CLI/CLI.hpp>

#include <cstddef>
#include <cstdint>
#include <string>

/// What a run of mixed_cache_study is told.
struct study_options {
  std::uint64_t rows = 150'000;
  std::size_t batch = 1024;
  std::size_t steps = 60;
  std::size_t repeats = 5;
  std::size_t dim = 16;
  std::size_t ranks = 2;
  std::size_t depth = 2;
  std::size_t cache_rows = 0;
  std::size_t policy_batch = 32;
  std::string capacity = "1%";
  std::string report;

  /// Refuses what contradicts itself.
  void check() const {
    inlay::expects(steps <= rows / batch,
                   "there are not enough samples for all steps: raise --rows, or lower --steps or "
                   "--batch");
    inlay::expects(policy_batch <= rows,
                   "there is not one batch for the policies: lower --policy-batch");
  }
};

/// Says what mixed_cache_study understands.
inline void describe(CLI::App& app, study_options& options) {
  app.add_option("--rows", options.rows, "generated samples; policies see all [150000]")
      ->check(CLI::Range(1, 1 << 24));
  app.add_option("--batch", options.batch, "samples of a step, all ranks together [1024]")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--steps", options.steps, "of each training; the second half is timed [60]")
      ->check(CLI::Range(2, 1 << 20));
  app.add_option("--repeats", options.repeats, "rounds of all trainings; the median is shown [5]")
      ->check(CLI::Range(1, 100));
  app.add_option("--dim", options.dim, "columns of a row [16]")->check(CLI::Range(2, 1024));
  app.add_option("--ranks", options.ranks, "threads that train together [2]")
      ->check(CLI::Range(2, 64));
  app.add_option("--depth", options.depth, "steps whose rows are brought ahead [2]")
      ->check(CLI::Range(1, 64));
  app.add_option("--cache-rows", options.cache_rows,
                 "of each rank [what the largest step uses, times depth + 1]");
  app.add_option("--policy-batch", options.policy_batch,
                 "samples of a step in the training whose keys the policies see [32]")
      ->check(CLI::Range(1, 1 << 20));
  app.add_option("--capacity", options.capacity,
                 "of the cache that the policies manage: rows, or a percentage of all rows [1%]");
  app.add_option("--report", options.report, "write the figures to this JSON file");
}
