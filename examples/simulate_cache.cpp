// Replays traces of keys over cache policies and says how many requests each would hit, beside the
// most that is possible. `simulate_cache --help` lists what can be chosen.

#include "miss_ratio_plot.hpp"
#include "simulate_options.hpp"

#include <inlay/sim/batch_simulator.hpp>
#include <inlay/sim/belady.hpp>
#include <inlay/sim/cache_simulator.hpp>
#include <inlay/sim/read_trace.hpp>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>

namespace {

/// A policy at a capacity on a trace.
struct result {
  std::string trace;
  std::string policy;
  std::size_t capacity = 0;
  inlay::replayed seen;
  std::optional<inlay::replayed> best;  ///< by Belady; unknown for batches
};

void print_head(simulate_options const& options) {
  if (options.csv) {
    std::printf("trace,policy,capacity,requests,lookups,hits,hit_rate,belady_hits\n");
  } else {
    std::printf("%-24s %-12s %10s %10s %10s %10s %8s %11s\n", "trace", "policy", "capacity",
                "requests", "lookups", "hits", "hit rate", "Belady hits");
  }
}

void print(result const& one, simulate_options const& options) {
  auto const best = one.best ? std::to_string(one.best->hits) : std::string();
  auto const count = [](std::uint64_t number) { return static_cast<unsigned long long>(number); };
  if (options.csv) {
    auto const plain = one.trace.find_first_of(",\"\n\r") == std::string::npos;
    std::printf("%s,%s,%zu,%llu,%llu,%llu,%.6f,%s\n",
                plain ? one.trace.c_str() : quoted(one.trace, '"').c_str(), one.policy.c_str(),
                one.capacity, count(one.seen.requests), count(one.seen.unique),
                count(one.seen.hits), one.seen.hit_rate(), best.c_str());
  } else {
    std::printf("%-24s %-12s %10zu %10llu %10llu %10llu %8.4f %11s\n", one.trace.c_str(),
                one.policy.c_str(), one.capacity, count(one.seen.requests), count(one.seen.unique),
                count(one.seen.hits), one.seen.hit_rate(), best.empty() ? "-" : best.c_str());
  }
}

/// Whether rows are planned a batch at a time: of the size that was said, or as the trace has them.
bool is_batched(inlay::access_trace const& trace, simulate_options const& options) {
  return options.batch > 0 || !trace.batch_ends().empty();
}

inlay::replayed replay(inlay::access_trace const& trace, any_policy const& policy,
                       std::size_t capacity, simulate_options const& options) {
  if (is_batched(trace, options)) {
    return inlay::batch_simulator{
        .cache = policy, .capacity = capacity, .batch = options.batch, .depth = options.depth}
        .replay(inlay::host_exec(), trace);
  }
  return inlay::cache_simulator{.cache = policy, .capacity = capacity, .window = options.window}
      .replay(trace);
}

/// Replays traces, prints what comes of it, and remembers what did not fit.
class simulation {
 public:
  explicit simulation(simulate_options const& options) : options_(options), plot_(options.plot) {}

  void run() {
    for (auto const& path : options_.traces) {
      simulate(path);
    }
    inlay::expects(std::fflush(stdout) == 0, "the table can't be written");
    if (results_ == 0 && misfit_) throw *misfit_;
    plot_.draw();
  }

 private:
  /// All policies at all capacities on a trace.
  void simulate(std::string const& path) {
    auto const trace = inlay::read_trace(path);
    auto const name = std::filesystem::path(path).filename().string();
    std::map<std::size_t, inlay::replayed> best;
    std::map<std::size_t, double> ratios;
    inlay::expects(options_.window == 0 || !is_batched(trace, options_),
                   "--window looks ahead of requests that come one by one, and this trace has "
                   "batches");
    for (auto const& size : options_.sizes) {
      if (is_batched(trace, options_)) break;
      auto const capacity = size.rows_of(trace.distinct());
      auto const& optimum = best[capacity] = inlay::belady(trace, capacity);
      ratios[capacity] = optimum.miss_rate();
    }
    if (!ratios.empty()) plot_.add(name + ", Belady", ratios);
    for (std::size_t at = 0; at < options_.policies.size(); ++at) {
      ratios.clear();
      for (auto const& size : options_.sizes) {
        auto const capacity = size.rows_of(trace.distinct());
        auto const seen = try_replay(trace, options_.chosen[at], capacity);
        if (!seen) continue;
        result one{name, options_.policies[at], capacity, *seen, std::nullopt};
        if (!best.empty()) one.best = best[capacity];
        ratios[capacity] = seen->miss_rate();
        if (results_++ == 0) print_head(options_);
        print(one, options_);
      }
      plot_.add(name + ", " + options_.policies[at], ratios);
    }
  }

  /// Nothing where a batch does not fit, which is said once for each capacity.
  std::optional<inlay::replayed> try_replay(inlay::access_trace const& trace,
                                            any_policy const& policy, std::size_t capacity) {
    try {
      return replay(trace, policy, capacity, options_);
    } catch (inlay::error const& wrong) {
      if (!is_batched(trace, options_)) throw;
      if (too_small_.insert(capacity).second) {
        std::fprintf(stderr, "simulate_cache: left out: %s\n", wrong.sentence().c_str());
      }
      misfit_.emplace(wrong);
      return std::nullopt;
    }
  }

  simulate_options const& options_;
  miss_ratio_plot plot_;
  std::size_t results_ = 0;
  std::set<std::size_t> too_small_;
  std::optional<inlay::error> misfit_;
};

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Replays traces of keys over cache policies and counts hits.");
  simulate_options options;
  describe(app, options);
  CLI11_PARSE(app, argc, argv);
  try {
    options.complete();
    simulation(options).run();
  } catch (inlay::error const& wrong) {
    std::fprintf(stderr, "simulate_cache: %s\n", wrong.sentence().c_str());
    return 1;
  } catch (std::exception const& wrong) {
    std::fprintf(stderr, "simulate_cache: %s\n", wrong.what());
    return 1;
  }
  return 0;
}
