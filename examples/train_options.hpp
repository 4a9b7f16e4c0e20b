#pragma once

#include "cache_policies.hpp"

#include <inlay/core/error.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <vector>

/// What a run of train_ctr is told. A value that was not given is chosen by `complete`.
struct train_options {
  std::string data = "synthetic";
  std::string model = "deepfm";
  std::optional<std::uint64_t> rows;
  std::optional<std::size_t> dim;
  std::vector<std::size_t> hidden;
  std::vector<std::size_t> bottom;
  std::vector<std::size_t> top;
  std::size_t batch = 256;
  std::uint64_t epochs = 4;
  std::optional<std::uint64_t> steps;
  std::string optimizer = "adagrad";
  std::optional<float> rate;
  std::optional<float> initial_scale;
  std::optional<float> initial_accumulator;
  std::optional<float> weight_decay;
  bool lazy_decay = false;
  float clip = 0.0F;
  std::size_t cache_rows = 0;
  std::optional<std::string> cache;
  any_policy policy;
  std::size_t prefetch = 0;
  std::size_t ranks = 1;
  std::string exchange = "owner_all_to_all";
  std::size_t threads = std::max(1U, std::thread::hardware_concurrency());
  bool fixed_sums = false;
  std::uint64_t seed = 1;
  std::optional<std::string> split;
  bool skip_bad_lines = false;
  std::string report;
  std::string save_parameters;
  std::string trace;
  std::string keys;

  /// A rate that suits the optimizer on the synthetic data.
  [[nodiscard]] float usual_rate() const {
    if (optimizer == "sgd") return 0.1F;
    if (optimizer == "momentum") return 0.2F;
    return optimizer == "adam" ? 0.002F : 0.1F;
  }

  /// A scale that suits the model on the synthetic data. DLRM has no weight of an id alone: all
  /// that a row learns comes through products, of which small rows have but small gradients.
  [[nodiscard]] float usual_scale() const { return model == "dlrm" ? 0.2F : 0.01F; }

  [[nodiscard]] bool is_file() const { return data != "synthetic"; }

  /// Refuses what contradicts itself and fills in what was left open.
  void complete() {
    using inlay::expects;
    expects(!rows || !is_file(), "--rows sizes synthetic data; a file has the rows it has");
    expects(!skip_bad_lines || is_file(),
            "--skip-bad-lines needs a file; synthetic data has no lines");
    expects(!cache || cache_rows > 0,
            "--cache names a policy, but there is no cache: add --cache-rows");
    expects(!dim || model != "lr" || *dim == 1,
            "--model lr has one weight per id: leave --dim out");
    expects(model != "deepfm" || !dim || *dim > 1,
            "--model deepfm needs --dim 2 or more: a linear weight and one factor");
    expects(hidden.empty() || model == "deepfm", "--hidden sizes the layers of --model deepfm");
    expects((bottom.empty() && top.empty()) || model == "dlrm",
            "--bottom and --top size the layers of --model dlrm");
    expects(bottom.empty() || !data.starts_with("movielens:"),
            "--bottom sizes the layers over dense features, and MovieLens has none");
    expects(!initial_accumulator || optimizer.ends_with("adagrad") || optimizer == "ftrl",
            "--initial-accumulator belongs to adagrad, rowwise_adagrad and ftrl");
    require_own_files();
    expects(keys.empty() || keys.ends_with(".keys"), "--keys writes a file that ends in .keys");
    expects(!weight_decay || optimizer != "ftrl",
            "--optimizer ftrl has no weight decay: it has l1 and l2 of its own");
    expects(!lazy_decay || weight_decay,
            "--lazy-decay says when, but not how much: add --weight-decay");
    rows = rows.value_or(100'000);
    dim = dim.value_or(model == "lr" ? 1 : 16);
    if (hidden.empty()) hidden = {64, 32};
    if (bottom.empty()) bottom = {32};
    if (top.empty()) top = {64, 32};
    policy = any_policy::named(cache.value_or("lru"));
    split = split.value_or(data.starts_with("movielens:") ? "random" : "time");
    rate = rate.value_or(usual_rate());
    initial_scale = initial_scale.value_or(usual_scale());
    initial_accumulator = initial_accumulator.value_or(0.01F);
  }

 private:
  /// No file is written twice, and the data not at all.
  void require_own_files() const {
    std::vector<std::string> paths{data.substr(data.find(':') + 1)};
    for (auto const& path : {report, save_parameters, trace, keys}) {
      if (path.empty()) continue;
      if (std::find(paths.begin(), paths.end(), path) != paths.end()) {
        inlay::fail(path + " stands for two files at once");
      }
      paths.push_back(path);
    }
  }
};

/// Checks of numbers whose faults are said shortly; the library's own print all digits of a bound.
inline std::string not_negative(std::string const& text) {
  return text.starts_with('-') ? "must not be negative" : "";
}
inline std::string positive(std::string const& text) {
  return std::strtod(text.c_str(), nullptr) > 0 ? "" : "must be greater than zero";
}

/// Says what train_ctr understands.
inline void describe(CLI::App& app, train_options& options) {
  app.add_option("--data", options.data,
                 "synthetic, criteo:FILE (TSV) or movielens:FILE (CSV), each plain or gzip")
      ->capture_default_str();
  app.add_option("--model", options.model, "lr: logistic regression; deepfm; dlrm")
      ->check(CLI::IsMember({"lr", "deepfm", "dlrm"}))
      ->capture_default_str();
  app.add_option("--rows", options.rows, "rows of synthetic data [100000]")
      ->check(CLI::Range(std::uint64_t{2}, std::uint64_t{1} << 40U));
  app.add_option("--dim", options.dim, "columns of an embedding row; lr has one [16]")
      ->check(CLI::Range(1, 4096));
  app.add_option("--hidden", options.hidden, "units of each hidden layer of deepfm [64,32]")
      ->check(CLI::Range(1, 65536))
      ->delimiter(',');
  app.add_option("--bottom", options.bottom,
                 "units of each layer of dlrm at the bottom, before that of --dim units [32]")
      ->check(CLI::Range(1, 65536))
      ->delimiter(',');
  app.add_option("--top", options.top, "units of each hidden layer of dlrm on top [64,32]")
      ->check(CLI::Range(1, 65536))
      ->delimiter(',');
  app.add_option("--batch", options.batch, "samples of a global batch")
      ->check(CLI::Range(1, 1 << 24))
      ->capture_default_str();
  app.add_option("--epochs", options.epochs, "times that all training samples are seen")
      ->check(CLI::Range(1, 1'000'000))
      ->capture_default_str();
  app.add_option("--steps", options.steps, "stop after so many global batches, before --epochs end")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40U));
  app.add_option("--optimizer", options.optimizer,
                 "sgd, momentum, adagrad, rowwise_adagrad, adam or ftrl")
      ->check(CLI::IsMember({"sgd", "momentum", "adagrad", "rowwise_adagrad", "adam", "ftrl"}))
      ->capture_default_str();
  app.add_option("--lr", options.rate, "learning rate [0.1; sgd 0.1, momentum 0.2, adam 0.002]")
      ->check(positive);
  app.add_option(
         "--initial-accumulator", options.initial_accumulator,
         "what squared gradients are added to; larger makes steps of rare ids smaller [0.01]")
      ->check(not_negative);
  app.add_option("--weight-decay", options.weight_decay,
                 "times the learning rate, what a weight loses in a step that holds its row")
      ->check(not_negative);
  app.add_flag("--lazy-decay", options.lazy_decay,
               "rows decay in all steps; those without the row are made up for at its next");
  app.add_option("--clip", options.clip,
                 "longest gradient of all dense parameters together; 0: any")
      ->check(not_negative)
      ->capture_default_str();
  app.add_option("--initial-scale", options.initial_scale,
                 "new rows are uniform within +- this [0.01; dlrm 0.2]")
      ->check(not_negative);
  app.add_option("--cache-rows", options.cache_rows,
                 "rows of the cache; 0: rows are used in the table")
      ->check(not_negative)
      ->capture_default_str();
  app.add_option("--cache", options.cache, "cache policy [lru]:" + any_policy::names());
  app.add_option("--prefetch", options.prefetch,
                 "steps whose rows are brought ahead, while the step at hand trains")
      ->check(CLI::Range(0, 1024))
      ->capture_default_str();
  app.add_option("--ranks", options.ranks,
                 "threads that train together and share no memory, with a part of the rows each")
      ->check(CLI::Range(1, 64))
      ->capture_default_str();
  app.add_option("--exchange", options.exchange,
                 "how rows get from rank to rank: owner_all_to_all, virtual_all_reduce, "
                 "virtual_gather_scatter or pooled_all_to_all")
      ->check(CLI::IsMember({"owner_all_to_all", "virtual_all_reduce", "virtual_gather_scatter",
                             "pooled_all_to_all"}))
      ->capture_default_str();
  app.add_option("--threads", options.threads,
                 "threads, of all ranks together; all of the machine unless said otherwise")
      ->check(CLI::Range(1, 1024))
      ->capture_default_str();
  app.add_flag("--fixed-sums", options.fixed_sums, "same bits for any number of threads and ranks");
  app.add_option("--seed", options.seed, "of data, split, shuffles and first weights")
      ->check(not_negative)
      ->capture_default_str();
  app.add_option(
         "--split", options.split,
         "hold back 20 % for testing: random, or time (the last) [movielens random, else time]")
      ->check(CLI::IsMember({"random", "time"}));
  app.add_flag("--skip-bad-lines", options.skip_bad_lines, "count bad lines of a file and go on");
  app.add_option("--report", options.report, "write the figures to this JSON file");
  app.add_option(
      "--save-parameters", options.save_parameters,
      "write ids and rows in order, then dense parameters, so that cmp compares two runs");
  app.add_option("--trace", options.trace,
                 "write when each stage of each step ran to this JSON file; chrome://tracing and "
                 "ui.perfetto.dev show it");
  app.add_option("--keys", options.keys,
                 "write the keys of all steps to this file, named .keys, for simulate_cache");
}
