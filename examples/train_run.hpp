#pragma once

#include "example_report.hpp"
#include "output_file.hpp"
#include "save_parameters.hpp"
#include "train_data.hpp"
#include "train_options.hpp"
#include "training.hpp"

#include <inlay/core/one_of.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/engine/key_log.hpp>
#include <inlay/engine/trace.hpp>
#include <inlay/model/deepfm.hpp>
#include <inlay/model/dlrm.hpp>
#include <inlay/model/logistic_regression.hpp>
#include <inlay/optim/adagrad.hpp>
#include <inlay/optim/adam.hpp>
#include <inlay/optim/ftrl.hpp>
#include <inlay/optim/momentum.hpp>
#include <inlay/optim/rowwise_adagrad.hpp>
#include <inlay/optim/sgd.hpp>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <variant>
#include <vector>

// What train_ctr does whether it is one rank or one of many.

using any_optimizer = inlay::one_of<inlay::adagrad, inlay::rowwise_adagrad, inlay::sgd,
                                    inlay::momentum, inlay::adam, inlay::ftrl>;
using any_sums = inlay::one_of<inlay::fast_sums, inlay::fixed_sums>;
using any_network = std::variant<inlay::logistic_regression, inlay::deepfm, inlay::dlrm>;

inline any_optimizer optimizer_of(train_options const& options) {
  auto chosen = any_optimizer::named(options.optimizer);
  std::visit(
      [&](auto& rule) {
        rule.learning_rate = *options.rate;
        if constexpr (requires { rule.initial_accumulator; }) {
          rule.initial_accumulator = *options.initial_accumulator;
        }
        if constexpr (requires { rule.decay; }) {
          if (options.weight_decay) {
            auto const mode =
                options.lazy_decay ? inlay::decay_mode::lazy : inlay::decay_mode::on_touch;
            rule.decay = {.rate = *options.weight_decay, .mode = mode};
          }
        }
      },
      chosen.chosen());
  return chosen;
}

inline any_sums sums_of(train_options const& options) {
  return options.fixed_sums ? any_sums(inlay::fixed_sums{}) : any_sums(inlay::fast_sums{});
}

inline inlay::shape shape_of(train_options const& options, train_data const& data) {
  auto shape = inlay::shape::one_table_per_field(data.fields(), *options.dim);
  for (auto& table : shape.tables) {
    table.initial_scale = *options.initial_scale;
  }
  shape.batch = options.batch;
  shape.cache_rows = options.cache_rows;
  shape.prefetch = options.prefetch;
  shape.dense_clip_norm = options.clip;
  shape.seed = options.seed;
  return shape;
}

inline any_network network_of(train_options const& options, train_data const& data) {
  if (options.model == "lr") {
    return inlay::logistic_regression({.fields = data.fields(), .dense_width = data.dense_width()});
  }
  if (options.model == "dlrm") {
    return inlay::dlrm({.fields = data.fields(),
                        .dim = *options.dim,
                        .dense_width = data.dense_width(),
                        .bottom = options.bottom,
                        .top = options.top,
                        .seed = options.seed});
  }
  return inlay::deepfm({.fields = data.fields(),
                        .dim = *options.dim,
                        .dense_width = data.dense_width(),
                        .hidden = options.hidden,
                        .seed = options.seed});
}

inline void add_quality(example_report& report, scored const& test,
                        std::optional<std::vector<float>> const& oracle) {
  auto const positives = std::count(test.labels.begin(), test.labels.end(), 1.0F);
  if (positives == 0 || positives == std::ssize(test.labels)) {
    report.add_missing("test_auc", "none: the test rows are not of both classes");
  } else {
    report.add("test_auc", inlay::auc(test.logits, test.labels));
    if (oracle) report.add("oracle_auc", inlay::auc(*oracle, test.labels));
  }
  if (test.labels.empty()) return;
  report.add("test_log_loss", inlay::mean_log_loss(test.logits, test.labels));
  if (oracle) report.add("oracle_log_loss", inlay::mean_log_loss(*oracle, test.labels));
  report.add("base_log_loss", inlay::base_log_loss(test.labels));
}

inline void add_cost(example_report& report, train_options const& options,
                     inlay::report const& figures, double seconds) {
  auto const share = [](std::uint64_t part, std::uint64_t whole) {
    return static_cast<double>(part) / static_cast<double>(whole);
  };
  report.add("steps", static_cast<std::uint64_t>(figures.steps));
  report.add("samples", figures.samples);
  auto const rate = static_cast<double>(figures.samples) / seconds;
  report.add("samples_per_s", rate, std::to_string(static_cast<std::uint64_t>(rate)));
  report.add("table_rows", std::uint64_t{figures.table_rows});
  report.add("bytes_per_row", share(figures.bytes, figures.table_rows));
  report.add("unique_share", share(figures.rows.unique, figures.ids));
  if (figures.sent_bytes > 0) {
    report.add("sent_bytes_per_step",
               share(figures.sent_bytes, static_cast<std::uint64_t>(figures.steps)));
  }
  if (options.cache_rows > 0) {
    report.add("hit_rate", share(figures.rows.hits, figures.rows.unique));
    report.add("write_backs", figures.rows.write_backs);
  } else {
    report.add_missing("hit_rate", "none: without --cache-rows rows are used in the table");
  }
  report.title("a step by stage");
  report.add_stages(figures);
}

inline void write_trace(inlay::trace const& seen, output_file& into) {
  seen.write(into.stream());
  into.close();
  if (seen.dropped() > 0) {
    std::printf("the trace holds the first %zu events; %zu came after it was full\n", seen.size(),
                seen.dropped());
  }
}

/// The files of a run.
struct run_outputs {
  explicit run_outputs(train_options const& options)
      : report(options.report),
        parameters(options.save_parameters),
        trace(options.trace),
        keys(options.keys) {}

  example_report report;
  output_file parameters;
  output_file trace;
  output_file keys;
};

/// Trains, tests, and writes what is wanted. `all(figures)` makes those of all ranks from those of
/// this one, and `save(trainer, parameters)` the file of parameters; ranks without outputs only
/// take part.
template <class Trainer, class All, class Save>
void run(Trainer& trainer, train_options const& options, train_data const& data,
         run_outputs* outputs, All const& all, Save const& save) {
  auto const loaders = data.open_loaders();
  std::optional<inlay::trace> seen;
  if (outputs != nullptr && outputs->trace.wanted()) trainer.attach(seen.emplace());
  inlay::key_log keys;
  if (outputs != nullptr && outputs->keys.wanted()) trainer.attach(keys);
  auto chosen = network_of(options, data);
  std::visit(
      [&](auto& network) {
        auto const seconds =
            train(trainer, network, *loaders.train,
                  options.steps.value_or(std::numeric_limits<std::uint32_t>::max()),
                  outputs != nullptr ? talk::progress : talk::nothing);
        trainer.forget_ahead();  // of steps that are not wanted any more
        save(trainer, network.parameters());
        auto const quality = score(trainer, network, *loaders.test);
        auto const figures = all(trainer.figures());
        if (outputs == nullptr) return;
        auto& report = outputs->report;
        report.add("model", options.model);
        report.add("seed", options.seed);
        add_quality(report, quality, data.oracle_logits());
        add_cost(report, options, figures, seconds);
        if (options.clip > 0) report.add("clipped_steps", figures.clipped_steps);
        if (data.skipped_lines() > 0) report.add("skipped_lines", data.skipped_lines());
        report.show();
        if (seen) write_trace(*seen, outputs->trace);
        if (outputs->keys.wanted()) {
          keys.write(outputs->keys.stream());
          outputs->keys.close();
        }
      },
      chosen);
}
