// Trains a click model on real or generated data through composed parts, and says how good it is
// beside what is possible. `train_ctr --help` lists what can be chosen.

#include "cache_policies.hpp"
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
#include <exception>
#include <iterator>
#include <limits>
#include <optional>
#include <variant>

namespace {

using any_optimizer = inlay::one_of<inlay::adagrad, inlay::rowwise_adagrad, inlay::sgd,
                                    inlay::momentum, inlay::adam, inlay::ftrl>;
using any_sums = inlay::one_of<inlay::fast_sums, inlay::fixed_sums>;
using any_network = std::variant<inlay::logistic_regression, inlay::deepfm, inlay::dlrm>;

any_optimizer optimizer_of(train_options const& options) {
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

inlay::shape shape_of(train_options const& options, train_data const& data) {
  auto shape = inlay::shape::one_table_per_field(data.fields(), *options.dim);
  for (auto& table : shape.tables) {
    table.initial_scale = *options.initial_scale;
  }
  shape.batch = options.batch;
  shape.cache_rows = options.cache_rows;
  shape.dense_clip_norm = options.clip;
  shape.seed = options.seed;
  return shape;
}

any_network network_of(train_options const& options, train_data const& data) {
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

void add_quality(example_report& report, scored const& test,
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

void add_cost(example_report& report, train_options const& options, inlay::report const& figures,
              double seconds) {
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
  if (options.cache_rows > 0) {
    report.add("hit_rate", share(figures.rows.hits, figures.rows.unique));
    report.add("write_backs", figures.rows.write_backs);
  } else {
    report.add_missing("hit_rate", "none: without --cache-rows rows are used in the table");
  }
  report.title("a step by stage");
  report.add_stages(figures);
}

void write_trace(inlay::trace const& seen, output_file& into) {
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

template <class Trainer>
void run(Trainer& trainer, train_options const& options, train_data& data, run_outputs& outputs) {
  auto const oracle = data.oracle_logits();
  std::optional<inlay::trace> seen;
  if (outputs.trace.wanted()) trainer.attach(seen.emplace());
  inlay::key_log keys;
  if (outputs.keys.wanted()) trainer.attach(keys);
  auto chosen = network_of(options, data);
  std::visit(
      [&](auto& network) {
        auto const seconds =
            train(trainer, network, data.train(),
                  options.steps.value_or(std::numeric_limits<std::uint32_t>::max()));
        if (outputs.parameters.wanted()) {
          save_parameters(trainer, network.parameters(), outputs.parameters);
        }
        auto& report = outputs.report;
        report.add("model", options.model);
        report.add("seed", options.seed);
        add_quality(report, score(trainer, network, data.test()), oracle);
        add_cost(report, options, trainer.figures(), seconds);
        if (options.clip > 0) report.add("clipped_steps", trainer.figures().clipped_steps);
        if (data.skipped_lines() > 0) report.add("skipped_lines", data.skipped_lines());
        report.show();
        if (seen) write_trace(*seen, outputs.trace);
        if (outputs.keys.wanted()) {
          keys.write(outputs.keys.stream());
          outputs.keys.close();
        }
      },
      chosen);
}

void run(train_options const& options) {
  run_outputs outputs(options);
  train_data data(options);
  std::printf("%llu samples, %zu fields, %zu dense features; %zu threads\n",
              static_cast<unsigned long long>(data.samples()), data.fields(), data.dense_width(),
              options.threads);
  auto const shape = shape_of(options, data);
  auto const exec = inlay::host_exec{options.threads};
  auto const sums =
      options.fixed_sums ? any_sums(inlay::fixed_sums{}) : any_sums(inlay::fast_sums{});
  if (options.cache_rows == 0) {
    inlay::engine trainer(
        shape, inlay::parts{.exec = exec, .optimizer = optimizer_of(options), .sums = sums});
    run(trainer, options, data, outputs);
  } else {
    inlay::engine trainer(shape, inlay::parts{.exec = exec,
                                              .cache = options.policy,
                                              .optimizer = optimizer_of(options),
                                              .sums = sums});
    run(trainer, options, data, outputs);
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains a click model with large embedding tables and prints how good it is.");
  train_options options;
  describe(app, options);
  CLI11_PARSE(app, argc, argv);
  try {
    options.complete();
    run(options);
  } catch (inlay::error const& wrong) {
    std::fprintf(stderr, "train_ctr: %s\n", wrong.sentence().c_str());
    return 1;
  } catch (std::exception const& wrong) {
    std::fprintf(stderr, "train_ctr: %s\n", wrong.what());
    return 1;
  }
  return 0;
}
