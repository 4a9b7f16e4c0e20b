#include <inlay/core/shuffled_exec.hpp>

#include <inlay/core/buffer.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <set>
#include <stdexcept>
#include <vector>

namespace {

using inlay::shuffled_exec;

/// In which order three streams do three pieces of work each, numbered 10 * stream + piece.
std::vector<int> order_of(std::uint64_t seed) {
  shuffled_exec const exec(seed);
  std::vector<shuffled_exec::stream> streams;
  std::vector<int> seen;
  for (int at = 0; at < 3; ++at) {
    streams.push_back(exec.open_stream());
  }
  for (int piece = 0; piece < 3; ++piece) {
    for (int at = 0; at < 3; ++at) {
      streams[static_cast<std::size_t>(at)].submit(
          [&seen, number = 10 * at + piece] { seen.push_back(number); });
    }
  }
  for (auto& stream : streams) {
    stream.drain();
  }
  return seen;
}

}  // namespace

TEST_CASE("shuffled_exec: a stream keeps its order, and streams come in many orders") {
  std::set<std::vector<int>> orders;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    auto const seen = order_of(seed);
    CHECK(seen.size() == 9);
    int next[3] = {0, 0, 0};
    for (auto const number : seen) {
      CHECK(number % 10 == next[number / 10]++);
    }
    orders.insert(seen);
  }
  CHECK(orders.size() > 300);
}

TEST_CASE("shuffled_exec: the same seed gives the same order") {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    CHECK(order_of(seed) == order_of(seed));
  }
}

TEST_CASE("shuffled_exec: what waits for an event comes after it; without one, not always") {
  std::size_t early = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    for (bool const waits : {true, false}) {
      shuffled_exec const exec(seed);
      auto first = exec.open_stream();
      auto second = exec.open_stream();
      int value = 0;
      int seen = -1;
      first.submit([&] { value = 1; });
      first.submit([&] { value = 2; });
      if (waits) second.wait(first.record());
      second.submit([&] { seen = value; });
      first.submit([&] { value = 3; });
      second.drain();
      first.drain();
      CHECK(seen >= 0);
      if (waits) CHECK(seen >= 2);
      if (!waits && seen < 2) ++early;
    }
  }
  CHECK(early > 100);
}

TEST_CASE("shuffled_exec: an event of a stream that never had work has happened") {
  shuffled_exec const exec(5);
  auto first = exec.open_stream();
  auto const second = exec.open_stream();
  int runs = 0;
  first.wait(second.record());
  first.wait({});
  first.submit([&] { ++runs; });
  first.drain();
  CHECK(runs == 1);
}

TEST_CASE("shuffled_exec: drain throws what work has thrown, once, and does the rest") {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    shuffled_exec const exec(seed);
    auto stream = exec.open_stream();
    int runs = 0;
    stream.submit([&] {
      ++runs;
      throw std::runtime_error("no");
    });
    stream.submit([&] { ++runs; });
    CHECK_THROWS_AS(stream.drain(), std::runtime_error);
    stream.drain();
    CHECK(runs == 2);
  }
}

TEST_CASE("shuffled_exec: memory that is given back holds nonsense") {
  inlay::buffer<std::uint32_t> memory;
  memory.assign(3, 7);
  shuffled_exec::give_back(memory);
  CHECK(memory[0] == 0xa5a5a5a5U);
  CHECK(memory[2] == 0xa5a5a5a5U);
  inlay::host_exec::give_back(memory);
  inlay::buffer<float> none;
  shuffled_exec::give_back(none);
}
