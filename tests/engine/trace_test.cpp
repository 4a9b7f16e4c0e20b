#include <inlay/engine/trace.hpp>

#include "engine/training.hpp"

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace {

using json = nlohmann::json;

json written(inlay::trace const& seen) {
  std::ostringstream out;
  seen.write(out);
  return json::parse(out.str());
}

/// Trains with a trace of room for `most` events; figures come back beside it.
inlay::report train(inlay::trace& seen, std::size_t steps, std::size_t threads) {
  auto const shape = toy::mixed_shape();
  inlay::engine trainer{
      shape, inlay::parts{.exec = inlay::host_exec(threads), .sums = inlay::fixed_sums{}}};
  trainer.attach(seen);
  toy::network net(toy::width_of(shape), toy::dense_width);
  net.attach_to(trainer);
  auto const batches = toy::some_batches(3, 500, 5);
  for (std::size_t i = 0; i < steps; ++i) {
    auto step = trainer.begin(batches[i % batches.size()].view());
    net.train_side_by_side(step, threads);
    trainer.finish(std::move(step));
  }
  return trainer.figures();
}

/// Nanoseconds, which microseconds with three decimals hold exactly.
std::int64_t ns(json const& microseconds) { return std::llround(microseconds.get<double>() * 1e3); }

struct interval {
  std::int64_t first = 0;
  std::int64_t last = 0;

  [[nodiscard]] bool holds(interval const& other) const {
    return first <= other.first && other.last <= last;
  }
  [[nodiscard]] bool apart_from(interval const& other) const {
    return last <= other.first || other.last <= first;
  }
};

interval of(json const& event) {
  auto const first = ns(event["ts"]);
  return {first, first + ns(event["dur"])};
}

TEST_CASE("trace: the file is Chrome's format, and its stages sum up to the report") {
  inlay::trace seen;
  auto const figures = train(seen, 6, 3);
  auto const file = written(seen);
  CHECK(file["otherData"]["dropped_events"] == 0);
  REQUIRE(file["traceEvents"].size() == seen.size());
  std::array<std::int64_t, inlay::stage_names.size()> sums{};
  for (auto const& event : file["traceEvents"]) {
    CHECK(event["ph"] == "X");
    CHECK(event["pid"] == 0);
    CHECK(event["tid"].get<std::size_t>() < 3);
    CHECK(event["args"]["step"].get<int>() < 6);
    CHECK(event["ts"].get<double>() >= 0.0);
    CHECK(event["dur"].get<double>() >= 0.0);
    for (std::size_t s = 0; s < sums.size(); ++s) {
      if (event["name"] == inlay::stage_names[s]) sums[s] += ns(event["dur"]);
    }
  }
  for (std::size_t s = 0; s < sums.size(); ++s) {
    CAPTURE(inlay::stage_names[s]);
    CHECK(static_cast<double>(sums[s]) / 1e9 ==
          doctest::Approx(figures.stage_seconds[s]).epsilon(1e-9));
    bool const elsewhere =
        inlay::stage{s} == inlay::stage::load || inlay::stage{s} == inlay::stage::wait;
    if (!elsewhere) CHECK(sums[s] > 0);
  }
}

TEST_CASE("trace: events of a thread nest: stages in their step, chunks in the network's time") {
  inlay::trace seen;
  train(seen, 4, 2);
  auto const file = written(seen);
  std::vector<std::pair<json, interval>> steps;
  std::vector<std::pair<json, interval>> inner;
  std::set<std::string> names;
  for (auto const& event : file["traceEvents"]) {
    names.insert(event["name"]);
    (event["cat"] == "step" ? steps : inner).emplace_back(event, of(event));
  }
  CHECK(names == std::set<std::string>{"step", "map", "bring", "pool", "network", "update", "dense",
                                       "chunk"});
  REQUIRE(steps.size() == 4);
  for (auto const& [event, when] : inner) {
    auto const step = event["args"]["step"].get<std::size_t>();
    CHECK(steps[step].first["args"]["step"] == step);
    CHECK(steps[step].second.holds(when));
    for (auto const& [other, then] : inner) {
      if (event["cat"] == "stage" && other["cat"] == "stage" && &event != &other) {
        CHECK(when.apart_from(then));
      }
      if (event["name"] == "network" && other["cat"] == "chunk" &&
          other["args"]["step"] == event["args"]["step"]) {
        CHECK(when.holds(then));
      }
    }
  }
}

TEST_CASE("trace: a full one keeps the first events and counts the others") {
  inlay::trace large;
  train(large, 3, 1);
  inlay::trace small(10);
  train(small, 3, 1);
  CHECK(small.size() == 10);
  CHECK(small.dropped() == large.size() - 10);
  auto const file = written(small);
  CHECK(file["otherData"]["dropped_events"] == small.dropped());
  REQUIRE(file["traceEvents"].size() == 10);
  CHECK(file["traceEvents"][0]["name"] == "map");
  CHECK_THROWS_WITH_AS(inlay::trace(0), doctest::Contains("a trace needs room for an event"),
                       inlay::error);
}

TEST_CASE("trace: threads add events side by side and none is lost") {
  constexpr std::size_t each = 2000;
  inlay::trace seen(3 * each);
  std::vector<std::thread> threads;
  for (std::size_t worker = 0; worker < 4; ++worker) {
    threads.emplace_back([&seen, worker] {
      auto const now = inlay::trace::clock::now();
      for (std::size_t i = 0; i < each; ++i) {
        seen.add_chunk(inlay::step_id{static_cast<std::int64_t>(i)}, worker, now, now);
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  CHECK(seen.size() == 3 * each);
  CHECK(seen.dropped() == each);
  std::set<std::pair<int, int>> distinct;
  auto const file = written(seen);
  for (auto const& event : file["traceEvents"]) {
    distinct.emplace(event["tid"].get<int>(), event["args"]["step"].get<int>());
  }
  CHECK(distinct.size() == 3 * each);
}

TEST_CASE("trace: an empty one is still a file") {
  CHECK(written(inlay::trace{})["traceEvents"].empty());
}

}  // namespace
