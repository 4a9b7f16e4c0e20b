#pragma once

#include "../report_table.hpp"
#include "study_data.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>

/// What each exchange sends among more and more ranks, and what of it is what; under `fast_sums`,
/// whose gradients travel as the exchange has it. The difference is in bytes, of all ranks and
/// steps.
[[nodiscard]] inline report_table traffic_table(study_data& data) {
  constexpr std::size_t most_steps = 4;
  report_table table({"ranks", "exchange", "keys", "rows", "gradients", "network", "meetings",
                      "by formula", "measured", "difference"});
  for (std::size_t const ranks : {2U, 4U, 8U}) {
    for (auto const* exchange : studied_exchanges) {
      auto how = data.setup_of(exchange);
      how.ranks = ranks;
      how.steps = std::min(how.steps, most_steps);
      announce(std::to_string(ranks) + " ranks, " + exchange);
      auto const seen = data.train(how);
      auto const expected = data.expected_bytes(how, seen.parameters.network_size());
      auto const cell = [&](std::uint64_t bytes) { return report_cell(kilobytes(bytes, how), 2); };
      auto const difference =
          static_cast<double>(seen.sent_bytes) - static_cast<double>(expected.total());
      table.add({std::uint64_t{ranks}, exchange, cell(expected.keys), cell(expected.rows),
                 cell(expected.gradients), cell(expected.network), cell(expected.meetings),
                 cell(expected.total()), cell(seen.sent_bytes), report_cell(difference, 0)});
    }
  }
  return table;
}
