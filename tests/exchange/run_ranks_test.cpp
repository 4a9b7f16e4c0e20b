#include <inlay/exchange/run_ranks.hpp>

#include "deadlines.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using inlay::run_ranks;
using inlay::thread_comm;

namespace {

/// What ranks other than `failing` hear when `fail` runs on it, with an operation under way.
template <class Fail>
std::vector<std::string> heard(std::size_t ranks, std::size_t failing, Fail const& fail) {
  std::vector<std::string> sentences(ranks);
  CHECK_THROWS(run_ranks(ranks, [&](thread_comm const& comm) {
    std::vector<float> values(1000);
    std::vector<float> more(1000);
    try {
      comm.barrier(in_a_minute());
      auto first = comm.all_reduce({values.data(), values.size()});
      if (comm.rank() == failing) fail();
      first.wait(in_a_minute());
      comm.all_reduce({more.data(), more.size()}).wait(in_a_minute());
    } catch (inlay::error const& fault) {
      if (comm.rank() == failing) throw;
      sentences[comm.rank()] = fault.sentence();
    }
  }));
  return sentences;
}

}  // namespace

TEST_CASE("run_ranks: every rank runs once, on a thread of its own") {
  std::vector<std::thread::id> threads(5);
  run_ranks(5, [&](thread_comm const& comm) {
    CHECK(comm.size() == 5);
    threads[comm.rank()] = std::this_thread::get_id();
    comm.barrier(in_a_minute());
  });
  for (std::size_t a = 0; a < 5; ++a) {
    CHECK(threads[a] != std::this_thread::get_id());
    for (std::size_t b = 0; b < a; ++b) {
      CHECK(threads[a] != threads[b]);
    }
  }
}

TEST_CASE("run_ranks: a rank that throws is heard by all, though they wait for its operation") {
  auto const sentence = std::string("rank 2: the disk is full");
  for (int repeat = 0; repeat < 20; ++repeat) {
    auto const of_error = heard(4, 2, [] { inlay::fail("the disk is full"); });
    auto const of_other = heard(4, 2, [] { throw std::out_of_range("the disk is full"); });
    for (std::size_t const rank : {0U, 1U, 3U}) {
      CHECK(of_error[rank] == sentence);
      CHECK(of_other[rank] == sentence);
    }
  }
  CHECK(heard(2, 0, [] { throw 5; })[1] == "rank 0: it failed without a sentence");
}

TEST_CASE("run_ranks: the caller gets the exception of the rank that failed first") {
  for (int repeat = 0; repeat < 20; ++repeat) {
    CHECK_THROWS_WITH_AS(run_ranks(3,
                                   [](thread_comm const& comm) {
                                     if (comm.rank() == 1) throw std::out_of_range("no such row");
                                     comm.barrier(in_a_minute());
                                   }),
                         "no such row", std::out_of_range);
  }
}

TEST_CASE("run_ranks: an error of the communicator itself is the caller's too") {
  CHECK_THROWS_WITH_AS(run_ranks(3,
                                 [](thread_comm const& comm) {
                                   if (comm.rank() != 1) comm.barrier(soon());
                                 }),
                       doctest::Contains("waited for barrier number 1, and rank 1 did not come"),
                       inlay::error);
}

TEST_CASE("run_ranks: memory is not read any more when a rank that fails frees it") {
  // For the sanitizers: rank 0 gives up while others may be copying from what it is about to free.
  for (int repeat = 0; repeat < 50; ++repeat) {
    CHECK_THROWS_WITH_AS(run_ranks(4,
                                   [&](thread_comm const& comm) {
                                     std::vector<float> values(50'000, 1.0F);
                                     auto pending = comm.all_reduce({values.data(), values.size()});
                                     if (comm.rank() == 0 && repeat % 2 == 0) {
                                       std::this_thread::yield();
                                       inlay::fail("enough");
                                     }
                                     if (comm.rank() == 0) comm.fail("enough");
                                     pending.wait(in_a_minute());
                                     comm.barrier(in_a_minute());
                                   }),
                         doctest::Contains("enough"), inlay::error);
  }
}
