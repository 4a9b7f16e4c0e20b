#include "deadlines.hpp"

#include <inlay/exchange/run_ranks.hpp>
#include <inlay/exchange/thread_comm.hpp>
#include <inlay/testing/trial.hpp>

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

using inlay::run_ranks;
using inlay::thread_comm;
using inlay::testing::trial;

namespace {

/// One operation of a random program, the same for all ranks.
struct planned {
  std::size_t kind = 0;   // 0 all_to_all_v, 1 all_gather, 2 all_reduce, 3 broadcast
  std::size_t count = 0;  // elements a rank, or a pair of ranks at most
  std::size_t root = 0;
};

/// What a rank gives for element `at` to `to`.
float given(std::size_t operation, std::size_t from, std::size_t to, std::size_t at) {
  inlay::random_stream const random{inlay::mix(operation, 64 * from + to)};
  return random.normal(at) * static_cast<float>(1U << random.bits(at) % 20);
}

std::size_t pair_count(planned const& plan, std::size_t from, std::size_t to) {
  return plan.count == 0 ? 0 : inlay::mix(from, to) % plan.count;
}

/// What a rank has in an operation under way, and what it must have in the end: a serial oracle.
struct part {
  std::vector<float> out;
  std::vector<float> in;
  std::vector<std::size_t> out_counts;
  std::vector<std::size_t> in_counts;
  std::vector<float> expected;
  std::optional<thread_comm::pending> handle;
};

void fill_exchange(part& mine, planned const& plan, std::size_t number, std::size_t rank,
                   std::size_t ranks) {
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    auto const out = pair_count(plan, rank, peer);
    auto const in = pair_count(plan, peer, rank);
    mine.out_counts.push_back(out * sizeof(float));
    mine.in_counts.push_back(in * sizeof(float));
    for (std::size_t at = 0; at < out; ++at) {
      mine.out.push_back(given(number, rank, peer, at));
    }
    for (std::size_t at = 0; at < in; ++at) {
      mine.expected.push_back(given(number, peer, rank, at));
    }
  }
}

void fill_rest(part& mine, planned const& plan, std::size_t number, std::size_t rank,
               std::size_t ranks) {
  for (std::size_t at = 0; at < plan.count; ++at) {
    mine.out.push_back(given(number, rank, 0, at));
  }
  if (plan.kind == 1) {
    for (std::size_t n = 0; n < plan.count * ranks; ++n) {
      mine.expected.push_back(given(number, n / plan.count, 0, n % plan.count));
    }
  } else if (plan.kind == 2) {
    for (std::size_t at = 0; at < plan.count; ++at) {
      auto sum = given(number, 0, 0, at);
      for (std::size_t peer = 1; peer < ranks; ++peer) {
        sum += given(number, peer, 0, at);
      }
      mine.expected.push_back(sum);
    }
  } else {
    for (std::size_t at = 0; at < plan.count; ++at) {
      mine.expected.push_back(given(number, plan.root, 0, at));
    }
  }
}

inlay::span<std::byte> bytes_of(std::vector<float>& values) {
  return {reinterpret_cast<std::byte*>(values.data()), values.size() * sizeof(float)};
}

part begin(thread_comm const& comm, planned const& plan, std::size_t number) {
  part mine;
  if (plan.kind == 0) {
    fill_exchange(mine, plan, number, comm.rank(), comm.size());
  } else {
    fill_rest(mine, plan, number, comm.rank(), comm.size());
  }
  mine.in = plan.kind < 2 ? std::vector<float>(mine.expected.size()) : mine.out;
  if (plan.kind == 0) {
    mine.handle = comm.all_to_all_v(bytes_of(mine.out), {mine.out_counts.data(), comm.size()},
                                    bytes_of(mine.in), {mine.in_counts.data(), comm.size()});
  } else if (plan.kind == 1) {
    mine.handle = comm.all_gather(bytes_of(mine.out), bytes_of(mine.in));
  } else if (plan.kind == 2) {
    mine.handle = comm.all_reduce({mine.in.data(), mine.in.size()});
  } else {
    mine.handle = comm.broadcast(bytes_of(mine.in), plan.root);
  }
  return mine;
}

void dawdle(trial& draw) {
  if (draw.chance(20)) std::this_thread::yield();
  if (draw.chance(3)) std::this_thread::sleep_for(std::chrono::microseconds(draw.below(300)));
}

/// Runs the program with up to five operations under way, which end in any order.
void run(thread_comm const& comm, std::vector<planned> const& program, std::uint64_t seed) {
  trial draw("thread_comm", inlay::mix(seed, comm.rank()));
  std::vector<part> under_way;
  auto const end_one = [&] {
    auto const at = draw.below(under_way.size());
    auto ended = std::move(under_way[at]);
    under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(at));
    ended.handle->wait(in_a_minute());
    draw.require(ended.in == ended.expected, "a rank has what the serial program gives it");
  };
  for (std::size_t number = 0; number < program.size(); ++number) {
    dawdle(draw);
    under_way.push_back(begin(comm, program[number], number));
    while (under_way.size() > draw.below(6)) {
      dawdle(draw);
      end_one();
    }
    if (number % 16 == 7) comm.barrier(in_a_minute());
  }
  while (!under_way.empty()) {
    end_one();
  }
}

}  // namespace

TEST_CASE("thread_comm: random programs give what they give serially, in whatever order they end") {
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    CAPTURE(seed);
    trial draw("thread_comm", seed);
    auto const ranks = 1 + draw.below(7);
    std::vector<planned> program(80);
    for (auto& plan : program) {
      plan = {draw.below(4), draw.chance(20) ? 0 : draw.below(700), draw.below(ranks)};
    }
    run_ranks(ranks, [&](thread_comm const& comm) { run(comm, program, seed); });
  }
}
