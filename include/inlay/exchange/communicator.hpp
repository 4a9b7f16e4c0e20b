#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/views.hpp>

#include <chrono>
#include <concepts>
#include <cstddef>
#include <string>

namespace inlay::inline INLAY_ABI {

/// What a rank throws because of another one, which has failed or has not come: a consequence, of
/// which the cause may be thrown there.
class peer_error : public error {
 public:
  using error::error;
};

/// Throws `peer_error` with this sentence.
[[noreturn]] inline void fail_by_peer(std::string const& sentence,
                                      char const* file = __builtin_FILE(),
                                      int line = __builtin_LINE()) {
  throw peer_error(sentence, file, line);
}

/// When a wait gives up. A wait that does is an error, and the communicator is dead from then on.
using deadline = std::chrono::steady_clock::time_point;

/// Who takes part.
template <class T>
concept has_ranks = requires(T const comm) {
  { comm.rank() } -> std::same_as<std::size_t>;
  { comm.size() } -> std::same_as<std::size_t>;
};

/// An operation under way; its buffers belong to it until `wait` returns.
template <class T>
concept pending_operation = std::movable<T> && requires(T operation, deadline until) {
  { operation.wait(until) } -> std::same_as<void>;
};

/// What ranks do together. All ranks call the same operations in the same order.
template <class T>
concept has_collectives =
    requires(T comm, span<std::byte const> out, span<std::byte> in, span<std::size_t const> counts,
             span<float> values, std::size_t root, deadline until) {
      { comm.all_to_all_v(out, counts, in, counts) } -> pending_operation;
      { comm.all_gather(out, in) } -> pending_operation;
      { comm.all_reduce(values) } -> pending_operation;
      { comm.broadcast(in, root) } -> pending_operation;
      { comm.barrier(until) } -> std::same_as<void>;
    };

/// Moves bytes among ranks. Nothing is lost, and sums don't depend on who arrives first. Laws:
/// testing/communicator_laws.hpp.
template <class T>
concept communicator = has_ranks<T> && has_collectives<T>;

}  // namespace inlay::inline INLAY_ABI
