#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/views.hpp>
#include <inlay/exchange/communicator.hpp>

#include <cstddef>
#include <numeric>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

namespace detail {

template <class T>
[[nodiscard]] span<std::byte const> bytes_of(T const* values, std::size_t count) noexcept {
  return {reinterpret_cast<std::byte const*>(values), count * sizeof(T)};
}
template <class T>
[[nodiscard]] span<std::byte> writable_bytes_of(T* values, std::size_t count) noexcept {
  return {reinterpret_cast<std::byte*>(values), count * sizeof(T)};
}

[[nodiscard]] inline std::vector<std::size_t> scaled(std::vector<std::size_t> counts,
                                                     std::size_t factor) {
  for (auto& count : counts) {
    count *= factor;
  }
  return counts;
}

[[nodiscard]] inline std::size_t total(std::vector<std::size_t> const& counts) noexcept {
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

}  // namespace detail

/// How many each rank sends this one, where `counts` says how many this one sends each. All ranks
/// call it together.
template <communicator Comm>
[[nodiscard]] std::vector<std::size_t> counts_from(Comm& comm,
                                                   std::vector<std::size_t> const& counts,
                                                   deadline until) {
  std::vector<std::size_t> const each(comm.size(), sizeof(std::size_t));
  std::vector<std::size_t> from(comm.size());
  comm.all_to_all_v(detail::bytes_of(counts.data(), counts.size()), {each.data(), each.size()},
                    detail::writable_bytes_of(from.data(), from.size()), {each.data(), each.size()})
      .wait(until);
  return from;
}

/// Sends each rank its part of some rows of `width` values, and receives theirs in the order of
/// ranks. Counts are rows a rank. All ranks call it together.
// send (sum of `to`, width), received (sum of `from`, width)
template <class T, communicator Comm>
void send_parts(Comm& comm, T const* send, std::vector<std::size_t> const& to,
                std::vector<std::size_t> const& from, std::size_t width, deadline until,
                buffer<T>& received) {
  auto const out = detail::scaled(to, width * sizeof(T));
  auto const in = detail::scaled(from, width * sizeof(T));
  received.resize(detail::total(from) * width);
  comm.all_to_all_v(detail::bytes_of(send, detail::total(to) * width), {out.data(), out.size()},
                    detail::writable_bytes_of(received.data(), received.size()),
                    {in.data(), in.size()})
      .wait(until);
}

/// Gives every rank the parts of all: each rank's own stands at its place in `all` beforehand.
/// Counts are values a rank, the same on all. All ranks call it together.
///
/// A broadcast for each rank, all under way at once: all_gather would have them send as much as the
/// one that has most.
template <class T, communicator Comm>
void gather_parts(Comm& comm, std::vector<std::size_t> const& counts, deadline until,
                  buffer<T>& all) {
  using pending = decltype(comm.broadcast(span<std::byte>{}, 0));
  std::vector<pending> parts;
  parts.reserve(counts.size());
  std::size_t first = 0;
  for (std::size_t root = 0; root < counts.size(); ++root) {
    parts.push_back(
        comm.broadcast(detail::writable_bytes_of(all.data() + first, counts[root]), root));
    first += counts[root];
  }
  for (auto& part : parts) {
    part.wait(until);
  }
}

}  // namespace inlay::inline INLAY_ABI
