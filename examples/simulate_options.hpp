#pragma once

#include "cache_policies.hpp"

#include <inlay/core/error.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

/// A number of rows, or a percentage of those of a trace.
class capacity_option {
 public:
  /// "705" or "1%".
  explicit capacity_option(std::string const& text) {
    auto number = std::string_view(text);
    is_share_ = number.ends_with('%');
    if (is_share_) number.remove_suffix(1);
    auto const* const end = number.data() + number.size();
    auto const read = is_share_ ? std::from_chars(number.data(), end, percent_)
                                : std::from_chars(number.data(), end, rows_);
    if (read.ec != std::errc{} || read.ptr != end || !std::isfinite(percent_) || percent_ < 0.0) {
      inlay::fail("'" + text + "' is no capacity: give rows, such as 705, or a percentage of the " +
                  "rows of a trace, such as 1%");
    }
    if (rows_ == 0 && percent_ == 0.0) {
      inlay::fail("'" + text + "' is no capacity: a cache needs at least one row");
    }
  }

  /// In rows; a percentage is rounded down, but not to none.
  [[nodiscard]] std::size_t rows_of(std::size_t distinct) const {
    if (!is_share_) return rows_;
    // What is whole in decimals stays whole.
    auto const rows = static_cast<double>(distinct) * percent_ / 100.0 * (1.0 + 1e-12);
    constexpr double most = 1e18;
    return static_cast<std::size_t>(std::clamp(rows, 1.0, most));
  }

 private:
  bool is_share_ = false;
  double percent_ = 0.0;
  std::size_t rows_ = 0;
};

/// What a run of simulate_cache is told. A value that was not given is chosen by `complete`.
struct simulate_options {
  std::vector<std::string> traces;
  std::vector<std::string> policies;
  std::vector<std::string> capacities;
  std::size_t batch = 0;
  std::size_t depth = 0;
  std::uint64_t window = 0;
  bool csv = false;
  std::string plot;

  std::vector<any_policy> chosen;      ///< of `policies`
  std::vector<capacity_option> sizes;  ///< of `capacities`

  /// Refuses what contradicts itself and fills in what was left open.
  void complete() {
    using inlay::expects;
    auto const has_batches = [](std::string const& path) { return path.ends_with(".keys"); };
    expects(depth == 0 || batch > 0 || std::all_of(traces.begin(), traces.end(), has_batches),
            "--depth keeps batches in flight: add --batch");
    expects(window == 0 || batch == 0,
            "--window looks ahead of requests that come one by one: leave --batch out");
    expects(plot.empty() || plot.ends_with(".svg"), "--plot writes a file that ends in .svg");
    if (policies.empty()) {
      std::istringstream known(any_policy::names());
      for (std::string name; known >> name;) {
        policies.push_back(name);
      }
    }
    if (capacities.empty() && plot.empty()) capacities = {"1%", "5%", "10%"};
    if (capacities.empty()) {
      capacities = {"0.1%", "0.2%", "0.5%", "1%", "2%", "5%", "10%", "20%", "50%", "100%"};
    }
    for (auto const& name : policies) {
      chosen.push_back(any_policy::named(name));
    }
    for (auto const& text : capacities) {
      sizes.emplace_back(text);
    }
  }
};

/// Says what simulate_cache understands.
inline void describe(CLI::App& app, simulate_options& options) {
  app.add_option("--trace", options.traces,
                 "a file of keys: .u32, .u64, .oracleGeneral of libCacheSim, or .keys of "
                 "train_ctr, which has "
                 "batches; may be repeated")
      ->required()
      ->delimiter(',');
  app.add_option("--policies", options.policies,
                 "cache policies, separated by commas; all unless said otherwise:" +
                     any_policy::names())
      ->delimiter(',');
  app.add_option("--capacities", options.capacities,
                 "of the cache: rows, or percentages of a trace's distinct keys [1%,5%,10%]")
      ->delimiter(',');
  app.add_option("--batch", options.batch,
                 "requests of a batch, whose rows are planned at once as in training; hits are of "
                 "distinct rows then [one by one]")
      ->check(CLI::Range(1, 1 << 24));
  app.add_option("--depth", options.depth, "batches in flight whose rows must stay [0]")
      ->check(CLI::Range(0, 1024));
  app.add_option(
         "--window", options.window,
         "requests ahead in which a policy that asks (look_ahead) knows the next use of a row [0]")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1} << 40U));
  app.add_flag("--csv", options.csv, "print comma-separated values");
  app.add_option(
      "--plot", options.plot,
      "let gnuplot draw miss ratios over capacities into this SVG file; the script stays "
      "beside it");
}
