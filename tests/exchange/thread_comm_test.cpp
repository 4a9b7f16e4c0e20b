#include <inlay/exchange/thread_comm.hpp>

#include "deadlines.hpp"

#include <inlay/exchange/run_ranks.hpp>
#include <inlay/testing/communicator_laws.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using inlay::run_ranks;
using inlay::thread_comm;
using inlay::thread_group;

namespace {

template <class Values>
inlay::span<std::byte> bytes_of(Values& values) {
  return {reinterpret_cast<std::byte*>(values.data()), values.size() * sizeof values[0]};
}

/// The sentence of what `body` throws.
template <class Body>
std::string sentence_of(Body&& body) {
  try {
    body();
  } catch (inlay::error const& fault) {
    return fault.sentence();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("thread_comm: the laws of a communicator hold") {
  for (std::size_t const ranks : {1U, 2U, 3U, 4U, 7U}) {
    CAPTURE(ranks);
    run_ranks(ranks, [](thread_comm const& comm) { inlay::testing::check_communicator(comm); });
  }
}

TEST_CASE("thread_comm: whoever waits for an absent rank is told its name, once and for all") {
  thread_group const group(4);
  std::vector<std::string> sentences(4);
  std::vector<std::thread> threads;
  for (std::size_t const rank : {1U, 3U}) {
    threads.emplace_back([&, comm = group.comm(rank), rank] {
      std::vector<float> values(5);
      sentences[rank] = sentence_of(
          [&] { comm.all_reduce({values.data(), 5}).wait(rank == 1 ? soon() : in_a_minute()); });
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  CHECK(sentences[1] == "rank 1 waited for all_reduce number 1, and ranks 0 and 2 did not come");
  CHECK(sentences[3] == sentences[1]);
  for (std::size_t rank = 0; rank < 4; ++rank) {
    CHECK(sentence_of([&] { group.comm(rank).barrier(in_a_minute()); }) == sentences[1]);
  }
}

TEST_CASE("thread_comm: a rank that has come but does not wait is named as that") {
  thread_group const group(2);
  std::vector<std::byte> mine(3);
  std::vector<std::byte> all(6);
  std::vector<std::byte> others(6);
  auto idle = group.comm(1).all_gather({mine.data(), 3}, bytes_of(others));
  CHECK(sentence_of([&] {
          group.comm(0).all_gather({mine.data(), 3}, bytes_of(all)).wait(soon());
        }) == "rank 0 waited for all_gather number 1, and rank 1 did not wait for it too");
  CHECK(sentence_of([&] { idle.wait(in_a_minute()); }).find("rank 0 waited") == 0);
}

TEST_CASE("thread_comm: a wait that has its bytes succeeds however late it is") {
  thread_group const group(1);
  float value = 3.0F;
  group.comm(0).all_reduce({&value, 1}).wait({});
  group.comm(0).barrier({});
  CHECK(value == 3.0F);
}

TEST_CASE("thread_comm: ranks that call in another order are told both calls") {
  thread_group const group(2);
  auto const zero = group.comm(0);
  auto const one = group.comm(1);
  std::vector<std::byte> bytes(4);
  float value = 1.0F;
  auto first = one.all_reduce({&value, 1});
  auto const sentence = "rank 0 calls broadcast as operation 1 where rank 1 calls all_reduce";
  CHECK(sentence_of([&] { (void)zero.broadcast(bytes_of(bytes), 0); }) == sentence);
  CHECK(sentence_of([&] { first.wait(in_a_minute()); }) == sentence);
}

TEST_CASE("thread_comm: sizes that do not fit each other are told of both ranks") {
  std::vector<std::byte> bytes(8);
  auto const of = [&](std::size_t count) { return inlay::span<std::byte>(bytes.data(), count); };
  float values[2] = {};
  using counts = std::vector<std::size_t>;
  auto const exchange = [&](thread_comm const& comm, counts const& out, counts const& in) {
    return comm.all_to_all_v(of(8), {out.data(), 2}, of(8), {in.data(), 2});
  };
  auto const second = [](auto const& call_zero, auto const& call_one) {
    thread_group const group(2);
    auto first = call_zero(group.comm(0));
    auto sentence = sentence_of([&] { (void)call_one(group.comm(1)); });
    CHECK(sentence_of([&] { first.wait(in_a_minute()); }) == sentence);
    return sentence;
  };
  CHECK(second([&](auto const& comm) { return exchange(comm, {1, 5}, {1, 2}); },
               [&](auto const& comm) { return exchange(comm, {2, 0}, {6, 0}); }) ==
        "rank 0 sends 5 bytes to rank 1 in all_to_all_v number 1, which expects 6");
  CHECK(second([&](auto const& comm) { return exchange(comm, {1, 5}, {1, 2}); },
               [&](auto const& comm) { return exchange(comm, {3, 0}, {5, 0}); }) ==
        "rank 1 sends 3 bytes to rank 0 in all_to_all_v number 1, which expects 2");
  CHECK(second([&](auto const& comm) { return comm.all_gather(of(2), of(4)); },
               [&](auto const& comm) { return comm.all_gather(of(3), of(6)); }) ==
        "rank 1 has 3 bytes in all_gather number 1 where rank 0 has 2");
  CHECK(second([&](auto const& comm) { return comm.all_reduce({values, 1}); },
               [&](auto const& comm) { return comm.all_reduce({values, 2}); }) ==
        "rank 1 has 8 bytes in all_reduce number 1 where rank 0 has 4");
  CHECK(second([&](auto const& comm) { return comm.broadcast(of(2), 0); },
               [&](auto const& comm) { return comm.broadcast(of(2), 1); }) ==
        "rank 1 takes rank 1 for the root of broadcast number 1 where rank 0 takes rank 0");
}

TEST_CASE("thread_comm: a handle dropped without wait ends the communicator by name") {
  thread_group const group(2);
  std::vector<std::byte> bytes(4);
  { auto const dropped = group.comm(0).broadcast(bytes_of(bytes), 0); }
  CHECK(sentence_of([&] { group.comm(1).broadcast(bytes_of(bytes), 0).wait(in_a_minute()); }) ==
        "rank 0 dropped broadcast number 1 without waiting for it");
}

TEST_CASE("thread_comm: a handle moved from is nobody's, and a second wait does nothing") {
  run_ranks(2, [](thread_comm const& comm) {
    std::vector<float> values{1.0F + static_cast<float>(comm.rank())};
    std::vector<float> others{2.0F};
    auto first = comm.all_reduce({values.data(), 1});
    auto second = comm.all_reduce({others.data(), 1});
    auto moved = std::move(first);
    moved.wait(in_a_minute());
    moved = std::move(second);
    moved.wait(in_a_minute());
    moved.wait(in_a_minute());
    CHECK(values[0] == 3.0F);
    CHECK(others[0] == 4.0F);
  });
}

TEST_CASE("thread_comm: the root of a broadcast needs all, the others need the root alone") {
  run_ranks(3, [](thread_comm const& comm) {
    std::vector<int> value{comm.rank() == 2 ? 42 : 0};
    std::vector<std::byte> const none;
    auto const send = [&] { comm.broadcast(bytes_of(value), 2).wait(in_a_minute()); };
    // Rank 1 has its bytes before rank 0 comes, for rank 0 waits for a word of rank 1.
    static std::atomic<bool> has_read;
    if (comm.rank() == 2) has_read = false;
    comm.barrier(in_a_minute());
    while (comm.rank() == 0 && !has_read.load()) {
      std::this_thread::yield();
    }
    send();
    if (comm.rank() == 1) has_read = true;
    CHECK(value[0] == 42);
  });
}

TEST_CASE("thread_comm: sums are added in the order of ranks, whoever comes first") {
  for (std::size_t late = 0; late < 3; ++late) {
    run_ranks(3, [&](thread_comm const& comm) {
      // (1e8 + 1) - 1e8 is 0 in floats, (1e8 - 1e8) + 1 is 1.
      std::vector<float> values(1000, comm.rank() == 0 ? 1e8F : comm.rank() == 1 ? 1.0F : -1e8F);
      if (comm.rank() == late) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      comm.all_reduce({values.data(), values.size()}).wait(in_a_minute());
      CHECK(values == std::vector<float>(1000, 0.0F));
    });
  }
}

TEST_CASE("thread_comm: what ranks send to others is counted") {
  run_ranks(4, [](thread_comm const& comm) {
    std::vector<std::byte> bytes(40);
    std::vector<std::byte> more(40);
    std::vector<std::size_t> const counts{3, 3, 3, 3};
    std::vector<float> values(5);
    comm.all_to_all_v(bytes_of(bytes), {counts.data(), 4}, bytes_of(more), {counts.data(), 4})
        .wait(in_a_minute());
    CHECK(comm.traffic() == 9);
    comm.all_gather({bytes.data(), 10}, bytes_of(more)).wait(in_a_minute());
    CHECK(comm.traffic() == 9 + 30);
    comm.all_reduce({values.data(), 5}).wait(in_a_minute());
    CHECK(comm.traffic() == 39 + 30);  // 2 * 3 / 4 * 20
    comm.broadcast(bytes_of(bytes), 1).wait(in_a_minute());
    comm.barrier(in_a_minute());
    CHECK(comm.traffic() == 69 + (comm.rank() == 1 ? 120 : 0));
  });
}

TEST_CASE("thread_comm: a communicator outlives its group") {
  auto comm = thread_group(1).comm(0);
  inlay::testing::check_communicator(comm);
}

TEST_CASE("thread_comm: what can't be is a sentence") {
  CHECK(sentence_of([] { (void)thread_group(0); }) == "a group needs at least one rank");
  CHECK(sentence_of([] { (void)thread_group(2).comm(2); }) == "a group has no such rank");
}
