#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/views.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// What ranks do together.
enum class collective : std::uint8_t { all_to_all_v, all_gather, all_reduce, broadcast, barrier };

/// By which sentences call it.
[[nodiscard]] constexpr char const* name_of(collective operation) noexcept {
  constexpr char const* names[] = {"all_to_all_v", "all_gather", "all_reduce", "broadcast",
                                   "barrier"};
  return names[static_cast<std::size_t>(operation)];
}

/// One rank's part in an operation: which it is, and the memory it is about.
struct collective_call {
  collective operation = collective::barrier;    ///< which of them
  std::byte const* send = nullptr;               ///< what others read
  std::byte* receive = nullptr;                  ///< where it puts what it reads
  std::size_t bytes = 0;                         ///< that it gives, if it gives all ranks the same
  std::size_t root = 0;                          ///< of a broadcast
  std::vector<std::size_t> send_counts = {};     // (ranks) of all_to_all_v
  std::vector<std::size_t> receive_counts = {};  // (ranks) of all_to_all_v
};

namespace detail {

[[nodiscard]] inline std::size_t sum_of(span<std::size_t const> counts) {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

[[nodiscard]] inline std::string rank_word(std::size_t rank) {
  return "rank " + std::to_string(rank);
}

/// "rank 2", "ranks 0 and 2", "ranks 0, 2 and 3".
[[nodiscard]] inline std::string rank_words(std::vector<std::size_t> const& ranks) {
  auto words = std::string(ranks.size() == 1 ? "rank " : "ranks ");
  for (std::size_t at = 0; at < ranks.size(); ++at) {
    if (at > 0) words += at + 1 < ranks.size() ? ", " : " and ";
    words += std::to_string(ranks[at]);
  }
  return words;
}

/// What is wrong if `from` does not send `to` what that expects; else nothing.
[[nodiscard]] inline std::string unlike_counts(std::string const& operation, std::size_t from,
                                               collective_call const& sender, std::size_t to,
                                               collective_call const& receiver) {
  auto const sent = sender.send_counts[to];
  auto const expected = receiver.receive_counts[from];
  if (sent == expected) return {};
  return rank_word(from) + " sends " + std::to_string(sent) + " bytes to " + rank_word(to) +
         " in " + operation + ", which expects " + std::to_string(expected);
}

}  // namespace detail

/// What is wrong with two ranks' parts in operation `number`, naming both; an empty string if they
/// fit.
[[nodiscard]] inline std::string misfit(std::uint64_t number, std::size_t rank,
                                        collective_call const& call, std::size_t other,
                                        collective_call const& theirs) {
  if (call.operation != theirs.operation) {
    return detail::rank_word(rank) + " calls " + name_of(call.operation) + " as operation " +
           std::to_string(number) + " where " + detail::rank_word(other) + " calls " +
           name_of(theirs.operation);
  }
  auto const operation = std::string(name_of(call.operation)) + " number " + std::to_string(number);
  if (call.root != theirs.root) {
    return detail::rank_word(rank) + " takes rank " + std::to_string(call.root) +
           " for the root of " + operation + " where " + detail::rank_word(other) + " takes rank " +
           std::to_string(theirs.root);
  }
  if (call.bytes != theirs.bytes) {
    return detail::rank_word(rank) + " has " + std::to_string(call.bytes) + " bytes in " +
           operation + " where " + detail::rank_word(other) + " has " +
           std::to_string(theirs.bytes);
  }
  if (call.operation != collective::all_to_all_v) return {};
  auto wrong = detail::unlike_counts(operation, rank, call, other, theirs);
  return wrong.empty() ? detail::unlike_counts(operation, other, theirs, rank, call) : wrong;
}

/// Bytes that a rank must send to others for its part, on a network where nobody passes on what is
/// not its own: its parts of all_to_all_v but the one for itself; what it gives to all_gather, or
/// as the root to broadcast, once for each other rank. For all_reduce those of a ring, 2 (ranks -
/// 1) / ranks of the values, rounded up.
[[nodiscard]] inline std::uint64_t bytes_to_others(collective_call const& call, std::size_t rank,
                                                   std::size_t ranks) {
  auto const others = std::uint64_t{ranks} - 1;
  switch (call.operation) {
  case collective::all_to_all_v:
    return detail::sum_of({call.send_counts.data(), ranks}) - call.send_counts[rank];
  case collective::all_gather:
    return call.bytes * others;
  case collective::all_reduce:
    return (2 * others * call.bytes + ranks - 1) / ranks;
  case collective::broadcast:
    return call.root == rank ? call.bytes * others : 0;
  case collective::barrier:
    break;
  }
  return 0;
}

}  // namespace inlay::inline INLAY_ABI
