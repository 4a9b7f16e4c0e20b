// Trains a click model on real or generated data through composed parts, and says how good it is
// beside what is possible. `train_ctr --help` lists what can be chosen.

#include "cache_policies.hpp"
#include "train_ctr/run_on_ranks.hpp"
#include "train_data.hpp"
#include "train_options.hpp"
#include "train_run.hpp"

#include <inlay/engine/engine.hpp>

#include <cstdio>
#include <exception>
#include <string>

namespace {

template <class Trainer>
void run_alone(Trainer& trainer, train_options const& options, train_data const& data,
               run_outputs& outputs) {
  run(
      trainer, options, data, &outputs, [](inlay::report const& figures) { return figures; },
      [&](auto& own, auto parameters) {
        if (!outputs.parameters.wanted()) return;
        saved_rows rows;
        rows.add(own);
        rows.write(parameters, outputs.parameters);
      });
}

void run(train_options const& options) {
  run_outputs outputs(options);
  train_data const data(options);
  std::printf("%llu samples, %zu fields, %zu dense features; %s%zu threads\n",
              static_cast<unsigned long long>(data.samples()), data.fields(), data.dense_width(),
              options.ranks > 1 ? (std::to_string(options.ranks) + " ranks, ").c_str() : "",
              options.threads);
  auto const shape = shape_of(options, data);
  auto const exec = inlay::host_exec{options.threads};
  if (options.ranks > 1) {
    run_on_ranks(options, data, outputs);
  } else if (options.cache_rows == 0) {
    inlay::engine trainer(
        shape,
        inlay::parts{.exec = exec, .optimizer = optimizer_of(options), .sums = sums_of(options)});
    run_alone(trainer, options, data, outputs);
  } else {
    inlay::engine trainer(shape, inlay::parts{.exec = exec,
                                              .cache = options.policy,
                                              .optimizer = optimizer_of(options),
                                              .sums = sums_of(options)});
    run_alone(trainer, options, data, outputs);
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
