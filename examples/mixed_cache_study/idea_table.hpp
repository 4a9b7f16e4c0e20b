#pragma once

#include "../report_table.hpp"
#include "ranked_training.hpp"
#include "study_data.hpp"

#include <inlay/core/error.hpp>
#include <inlay/core/sums.hpp>

#include <cstddef>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Trains with all ideas of ScaleFreeCTR, and with each left out in turn.
///
/// Figures are of `fast_sums`, whose gradients travel as the exchange has it. The same trainings
/// under `fixed_sums` must end with the same bits; not those without virtual ids, which add
/// gradients in another order and are compared with their like.
class idea_table {
 public:
  explicit idea_table(study_data& data) : data_(data), cache_rows_(data.cache_rows()) {}

  /// Rows of each rank's cache.
  [[nodiscard]] std::size_t cache_rows() const { return cache_rows_; }

  /// One line for each exchange and what it goes without.
  [[nodiscard]] report_table fill() {
    auto all = variants();
    // Round by round, so that what slows the machine down for a while slows all of them.
    for (std::size_t round = 1; round <= data_.options().repeats; ++round) {
      announce("all variants, round " + std::to_string(round));
      for (auto& one : all) {
        one.seen = data_.train(one.how);
        one.step_ms.push_back(one.seen.step_ms);
      }
    }
    announce("all variants under fixed_sums");
    report_table table({"exchange", "ideas", "ms a step", "kB sent", "by formula", "kB moved",
                        "moved is", "misses per unique id", "parameters"});
    for (auto& one : all) {
      table.add(row_of(one));
      if (one.exchange != inlay::pooled_all_to_all::name || one.ideas != "no cache") continue;
      table.add({one.exchange, "no VSID", {}, {}, {}, {}, {}, {}, {}});  // bags travel as they are
    }
    return table;
  }

 private:
  [[nodiscard]] static training_setup without_virtual_ids(training_setup how) {
    how.ids = numbered_ids::every_occurrence;
    if (how.exchange == inlay::virtual_all_reduce::name) how.exchange = occurrence_all_reduce::name;
    if (how.exchange == inlay::virtual_gather_scatter::name) {
      how.exchange = occurrence_gather_scatter::name;
    }
    return how;
  }

  /// A training without one of the ideas, and what came of it.
  struct variant {
    std::string exchange;
    std::string ideas;
    training_setup how;
    trained seen = {};
    std::vector<double> step_ms = {};  ///< by round
  };

  [[nodiscard]] std::vector<variant> variants() const {
    std::vector<variant> result;
    for (auto const* exchange : studied_exchanges) {
      auto all = data_.setup_of(exchange);
      all.cache_rows = cache_rows_;
      all.prefetch = data_.options().depth;
      auto no_overlap = all;
      no_overlap.prefetch = 0;
      auto no_cache = all;
      no_cache.cache_rows = 0;
      result.push_back({exchange, "all", all});
      result.push_back({exchange, "no overlap", no_overlap});
      result.push_back({exchange, "no cache", no_cache});
      if (all.exchange == inlay::pooled_all_to_all::name) continue;
      result.push_back({exchange, "no VSID", without_virtual_ids(all)});
    }
    return result;
  }

  [[nodiscard]] std::vector<report_cell> row_of(variant& one) {
    auto const& how = one.how;
    auto const& rows = one.seen.rows;
    auto const expected = data_.expected_bytes(how, one.seen.parameters.network_size());
    auto const steps = static_cast<double>(how.ranks * (how.steps - how.steps / 2));
    auto const row_kilobytes = static_cast<double>((how.dim + 1) * sizeof(float)) / 1e3;
    auto const cached = how.cache_rows > 0;
    auto const moves = cached ? rows.misses + rows.write_backs : 2 * rows.unique;
    auto const miss_rate = static_cast<double>(rows.misses) / static_cast<double>(rows.unique);
    return {one.exchange,
            one.ideas,
            {median(std::move(one.step_ms)), 2},
            {kilobytes(one.seen.sent_bytes, how), 1},
            {kilobytes(expected.total(), how), 1},
            {static_cast<double>(moves) * row_kilobytes / steps, 1},
            cached ? "measured" : "computed",
            cached ? report_cell(miss_rate, 4) : report_cell(),
            judged(how, std::move(one.seen.parameters))};
  }

  /// What the parameters are beside those of the first training.
  [[nodiscard]] std::string judged(training_setup how, trained_parameters fast) {
    if (how.ids == numbered_ids::every_occurrence) {
      char text[48];
      std::snprintf(text, sizeof text, "within %.0e", fast.distance_to(first_->fast));
      return text;
    }
    how.sums = inlay::fixed_sums{};
    auto fixed = data_.train(how).parameters;
    if (!first_) first_.emplace(outcomes{std::move(fast), fixed});
    return fixed == first_->fixed ? "same bits" : "other bits";
  }

  /// By kind of sums.
  struct outcomes {
    trained_parameters fast;
    trained_parameters fixed;
  };

  study_data& data_;
  std::size_t cache_rows_;
  std::optional<outcomes> first_;
};
