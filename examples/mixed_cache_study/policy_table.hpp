#pragma once

#include "../cache_policies.hpp"
#include "../report_table.hpp"
#include "../simulate_options.hpp"
#include "study_data.hpp"

#include <inlay/core/host_exec.hpp>
#include <inlay/engine/key_log.hpp>
#include <inlay/sim/batch_simulator.hpp>
#include <inlay/sim/recorded.hpp>

#include <algorithm>
#include <cstddef>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

/// What each policy misses of the keys that a training of one rank has asked for.
class policy_table {
 public:
  /// Trains.
  explicit policy_table(study_data& data)
      : depth_(data.options().depth),
        trace_(recorded(data)),
        capacity_(capacity_option(data.options().capacity).rows_of(trace_.distinct())) {}

  /// Rows of all tables.
  [[nodiscard]] std::size_t rows() const { return trace_.distinct(); }
  /// Of the cache that the policies manage.
  [[nodiscard]] std::size_t capacity() const { return capacity_; }

  /// One line for each policy, the best one first.
  [[nodiscard]] report_table fill() const {
    std::vector<result> results;
    double of_lru = 0;
    std::istringstream names(any_policy::names());
    for (std::string name; names >> name;) {
      inlay::batch_simulator const cache{
          .cache = any_policy::named(name), .capacity = capacity_, .depth = depth_};
      results.push_back({name, cache.replay(inlay::host_exec(1), trace_).miss_rate()});
      if (name == inlay::lru::name) of_lru = results.back().misses;
    }
    std::sort(results.begin(), results.end(), [](auto const& left, auto const& right) {
      return std::tie(left.misses, left.policy) < std::tie(right.misses, right.policy);
    });
    report_table table({"policy", "misses per unique id", "beside LRU"});
    for (auto const& one : results) {
      table.add({one.policy, {one.misses, 4}, {one.misses / of_lru, 3}});
    }
    return table;
  }

 private:
  struct result {
    std::string policy;
    double misses;  // per unique id
  };

  [[nodiscard]] static inlay::access_trace recorded(study_data& data) {
    inlay::key_log seen;
    auto how = data.setup_of(studied_exchanges[0]);
    how.ranks = 1;
    how.batch = data.options().policy_batch;
    how.steps = data.options().rows / how.batch;
    how.keys = &seen;
    announce("one rank, whose keys are recorded");
    static_cast<void>(data.train(how));
    return inlay::recorded(seen);
  }

  std::size_t depth_;
  inlay::access_trace trace_;
  std::size_t capacity_;
};
