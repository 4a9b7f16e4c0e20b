#pragma once

#include <inlay/core/error.hpp>
#include <inlay/exchange/communicator.hpp>

#include <chrono>
#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

namespace inlay::inline INLAY_ABI::testing {

namespace detail {

[[nodiscard]] inline deadline in_a_minute() {
  return std::chrono::steady_clock::now() + std::chrono::minutes(1);
}

/// The byte at `place` of what `from` sends to `to`.
[[nodiscard]] inline std::byte law_byte(std::size_t from, std::size_t to, std::size_t place) {
  return static_cast<std::byte>((31 * from + 17 * to + place) % 251);
}

[[nodiscard]] inline std::size_t law_count(std::size_t from, std::size_t to, std::size_t round) {
  return round == 0 ? 0 : (5 * from + 3 * to + 7 * round) % 11;  // some are zero
}

inline void communicator_owes(bool kept, char const* law, std::size_t rank) {
  if (!kept) {
    fail(std::string("a communicator must ") + law + " (seen by rank " + std::to_string(rank) +
         ")");
  }
}

template <class Operation>
void expect_refusal(Operation&& operation, char const* law, std::size_t rank) {
  bool refused = false;
  try {
    operation();
  } catch (error const&) {
    refused = true;
  }
  communicator_owes(refused, law, rank);
}

template <communicator Comm>
void check_all_to_all(Comm& comm, std::size_t round) {
  auto const rank = comm.rank();
  std::vector<std::size_t> out_counts;
  std::vector<std::size_t> in_counts;
  std::vector<std::byte> out;
  for (std::size_t peer = 0; peer < comm.size(); ++peer) {
    out_counts.push_back(law_count(rank, peer, round));
    in_counts.push_back(law_count(peer, rank, round));
    for (std::size_t place = 0; place < out_counts.back(); ++place) {
      out.push_back(law_byte(rank, peer, place));
    }
  }
  auto const expected = std::accumulate(in_counts.begin(), in_counts.end(), std::size_t{0});
  auto constexpr guard = std::byte{0xee};
  std::vector<std::byte> in(expected + 3, guard);
  comm.all_to_all_v({out.data(), out.size()}, {out_counts.data(), out_counts.size()},
                    {in.data(), expected}, {in_counts.data(), in_counts.size()})
      .wait(in_a_minute());
  std::size_t at = 0;
  for (std::size_t peer = 0; peer < comm.size(); ++peer) {
    for (std::size_t place = 0; place < in_counts[peer]; ++place) {
      communicator_owes(in[at++] == law_byte(peer, rank, place),
                        "deliver in all_to_all_v what each rank sent, in the order of ranks", rank);
    }
  }
  communicator_owes(in[expected] == guard, "write nothing behind what it delivers", rank);
}

template <communicator Comm>
void check_all_gather(Comm& comm, std::size_t count) {
  std::vector<std::byte> mine(count);
  for (std::size_t place = 0; place < count; ++place) {
    mine[place] = law_byte(comm.rank(), 0, place);
  }
  std::vector<std::byte> all(count * comm.size());
  comm.all_gather({mine.data(), count}, {all.data(), all.size()}).wait(in_a_minute());
  for (std::size_t at = 0; at < all.size(); ++at) {
    communicator_owes(all[at] == law_byte(at / count, 0, at % count),
                      "gather in all_gather what each rank gave, in the order of ranks",
                      comm.rank());
  }
}

template <communicator Comm>
void check_all_reduce(Comm& comm) {
  // Values whose sums depend on the order, so that ranks that differ in it are found.
  std::vector<float> values(1000);
  double exact = 0.0;
  for (std::size_t rank = 0; rank < comm.size(); ++rank) {
    exact += 1.0 / static_cast<double>(3 + rank);
  }
  for (auto& value : values) {
    value = 1.0F / static_cast<float>(3 + comm.rank());
  }
  comm.all_reduce({values.data(), values.size()}).wait(in_a_minute());
  auto const slack = 1e-6 * static_cast<double>(comm.size());
  for (auto const value : values) {
    communicator_owes(value - exact <= slack && exact - value <= slack,
                      "add up in all_reduce what each rank gave", comm.rank());
    communicator_owes(value == values[0], "add in all_reduce in one order", comm.rank());
  }
  auto from_first = values;
  comm.broadcast({reinterpret_cast<std::byte*>(from_first.data()), 4000}, 0).wait(in_a_minute());
  communicator_owes(from_first == values, "give every rank the same sums", comm.rank());
  comm.all_reduce({}).wait(in_a_minute());
}

template <communicator Comm>
void check_broadcast(Comm& comm, std::size_t root) {
  std::vector<std::byte> bytes(97);
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    bytes[place] = law_byte(comm.rank(), 5, place);
  }
  comm.broadcast({bytes.data(), bytes.size()}, root).wait(in_a_minute());
  for (std::size_t place = 0; place < bytes.size(); ++place) {
    communicator_owes(bytes[place] == law_byte(root, 5, place),
                      "give every rank in broadcast what the root gave", comm.rank());
  }
}

template <communicator Comm>
void check_refusals(Comm& comm) {
  auto const ranks = comm.size();
  std::vector<std::byte> few(ranks);
  std::vector<std::byte> other(ranks);
  std::vector<std::size_t> const fit(ranks, 1);
  std::vector<std::size_t> const too_much(ranks, 2);
  std::vector<std::size_t> const too_long(ranks + 1, 0);
  auto const exchange = [&](std::vector<std::size_t> const& out,
                            std::vector<std::size_t> const& in) {
    comm.all_to_all_v({few.data(), few.size()}, {out.data(), out.size()},
                      {other.data(), other.size()}, {in.data(), in.size()})
        .wait(in_a_minute());
  };
  expect_refusal([&] { exchange(too_much, too_much); },
                 "refuse counts larger than the buffers they describe", comm.rank());
  expect_refusal([&] { exchange(too_long, fit); }, "refuse more counts than ranks", comm.rank());
  expect_refusal([&] { exchange(fit, too_long); }, "refuse more counts than ranks", comm.rank());
  expect_refusal([&] { exchange({}, {}); }, "refuse fewer counts than ranks", comm.rank());
  expect_refusal(
      [&] { comm.all_gather({few.data(), 1}, {other.data(), ranks - 1}).wait(in_a_minute()); },
      "refuse to gather into too little memory", comm.rank());
  expect_refusal([&] { comm.broadcast({few.data(), few.size()}, ranks).wait(in_a_minute()); },
                 "refuse a root that is no rank", comm.rank());
}

}  // namespace detail

/// Checks the laws of `communicator` that need no failing peer; throws `error` with the law that
/// does not hold. All ranks call it together, each with its own communicator.
template <communicator Comm>
void check_communicator(Comm& comm) {
  detail::communicator_owes(comm.size() > 0 && comm.rank() < comm.size(), "number its ranks from 0",
                            comm.rank());
  for (std::size_t round = 0; round < 4; ++round) {
    detail::check_all_to_all(comm, round);
    detail::check_all_gather(comm, 13 * round);
    comm.barrier(detail::in_a_minute());
  }
  detail::check_all_reduce(comm);
  for (std::size_t root = 0; root < comm.size(); ++root) {
    detail::check_broadcast(comm, root);
  }
  detail::check_refusals(comm);
  // What was refused must leave nothing behind.
  detail::check_all_to_all(comm, 5);
}

}  // namespace inlay::inline INLAY_ABI::testing
