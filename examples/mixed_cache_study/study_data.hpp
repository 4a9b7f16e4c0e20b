#pragma once

#include "../report_table.hpp"
#include "kept_samples.hpp"
#include "ranked_training.hpp"
#include "sent_bytes.hpp"
#include "study_options.hpp"

#include <inlay/batch/synthetic.hpp>
#include <inlay/engine/ranks.hpp>
#include <inlay/exchange/pooled_all_to_all.hpp>
#include <inlay/exchange/thread_comm.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>

/// The exchanges of the study, the reference first.
inline constexpr std::array studied_exchanges{
    inlay::owner_all_to_all::name, inlay::virtual_all_reduce::name,
    inlay::virtual_gather_scatter::name, inlay::pooled_all_to_all::name};

/// What the parts of a study share: options and samples.
class study_data {
 public:
  explicit study_data(study_options const& chosen)
      : options_(chosen), clicks_({.rows = chosen.rows}), samples_(clicks_) {}

  [[nodiscard]] study_options const& options() const { return options_; }

  /// Rows of each rank's cache: as said, or enough for the keys of all ranks in as many of the
  /// largest step as are under way, whatever part of them a rank owns.
  [[nodiscard]] std::size_t cache_rows() {
    if (options_.cache_rows > 0) return options_.cache_rows;
    std::uint64_t most = 0;
    for (std::uint64_t step = 0; step < options_.steps; ++step) {
      most = std::max(most, keys_of(setup_of(studied_exchanges[0]), step).merged());
    }
    return most * (options_.depth + 1);
  }

  /// A training by an exchange, without a cache, at once.
  [[nodiscard]] training_setup setup_of(char const* exchange) const {
    return {.ranks = options_.ranks,
            .batch = options_.batch,
            .steps = options_.steps,
            .dim = options_.dim,
            .exchange = exchange};
  }

  [[nodiscard]] trained train(training_setup const& how) {
    return ranked_training(clicks_, samples_, how).run();
  }

  /// By formula, all ranks and steps of a training under `fast_sums` together.
  [[nodiscard]] sent_bytes expected_bytes(training_setup const& how, std::size_t network_size) {
    sent_bytes sum;
    for (std::uint64_t step = 0; step < how.steps; ++step) {
      auto const used = keys_of(how, step);
      if (how.exchange == inlay::pooled_all_to_all::name) {
        sum += bytes_pooled(used, how.dim);
      } else if (how.ids == numbered_ids::every_occurrence) {
        auto const counted = how.exchange == inlay::owner_all_to_all::name;
        sum += bytes_by_key(how.exchange, used, used.used(), counted ? 12 : 8, how.dim);
      } else {
        auto const distinct = used.distinct();
        sum += bytes_by_key(how.exchange, distinct, distinct.merged(), 12, how.dim);
      }
    }
    sum.network = how.steps * ring_bytes(4 * network_size, how.ranks);
    sum.meetings = how.steps * how.ranks * 4 * 32 * (how.ranks - 1);
    return sum;
  }

 private:
  /// What the ranks of a training use in a step.
  [[nodiscard]] step_keys keys_of(training_setup const& how, std::uint64_t step) {
    step_keys keys;
    inlay::thread_group const group(how.ranks);
    for (std::size_t rank = 0; rank < how.ranks; ++rank) {
      inlay::ranks const all(group.comm(rank), 1.0);
      auto const share = all.share_of({step * how.batch, (step + 1) * how.batch}, 1);
      samples_.prepare(share);
      keys.add(samples_.at(share));
    }
    return keys;
  }

  study_options const& options_;
  inlay::synthetic clicks_;
  kept_samples samples_;
};

/// Of a rank in a step, on average.
[[nodiscard]] inline double kilobytes(std::uint64_t bytes, training_setup const& how) {
  return static_cast<double>(bytes) / 1e3 / static_cast<double>(how.ranks * how.steps);
}

/// Says what takes time now.
inline void announce(std::string const& what) {
  std::fprintf(stderr, "training: %s\n", what.c_str());
}
