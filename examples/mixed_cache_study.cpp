// What each idea of ScaleFreeCTR gives (arXiv 2104.08542): virtual sparse ids, the mixed cache, and
// rows that are brought while a step trains; for each way of rows between ranks, which are threads
// here. What travels is measured, and beside it stands what formulas say, see
// mixed_cache_study/sent_bytes.hpp. `mixed_cache_study --help` lists what can be chosen.

#include "example_report.hpp"
#include "mixed_cache_study/idea_table.hpp"
#include "mixed_cache_study/policy_table.hpp"
#include "mixed_cache_study/study_data.hpp"
#include "mixed_cache_study/study_options.hpp"
#include "mixed_cache_study/traffic_table.hpp"

#include <inlay/core/error.hpp>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <cstdio>
#include <exception>
#include <string>

namespace {

void run(study_options const& options) {
  options.check();
  example_report report(options.report);
  study_data data(options);

  policy_table const policies(data);
  auto const by_policy = policies.fill();  // the one that may not fit, so it comes first

  idea_table ideas(data);
  report.title("Ideas, " + std::to_string(options.ranks) +
               " ranks: of a rank and step. kB sent to other ranks; kB moved between table and "
               "cache, computed without one: all rows in and out");
  report.add("ideas", ideas.fill());
  report.add("cache_rows_a_rank", std::uint64_t{ideas.cache_rows()});

  report.title("");
  report.title("Traffic by ranks: kB of a rank and step; what is measured less the formula, in "
               "bytes");
  report.add("traffic", traffic_table(data));

  report.title("");
  report.title("Policies: " + std::to_string(policies.capacity()) + " of " +
               std::to_string(policies.rows()) + " rows cached, steps of " +
               std::to_string(options.policy_batch) +
               " samples; look_ahead is told nothing, which makes it LRU");
  report.add("policies", by_policy);
  report.show();
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Leaves out each idea of ScaleFreeCTR in turn, and says what that costs.");
  study_options options;
  describe(app, options);
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (inlay::error const& wrong) {
    std::fprintf(stderr, "mixed_cache_study: %s\n", wrong.sentence().c_str());
    return 1;
  } catch (std::exception const& wrong) {
    std::fprintf(stderr, "mixed_cache_study: %s\n", wrong.what());
    return 1;
  }
  return 0;
}
