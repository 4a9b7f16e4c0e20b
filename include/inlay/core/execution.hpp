#pragma once

#include <inlay/core/config.hpp>

#include <concepts>

namespace inlay::inline INLAY_ABI {

namespace detail {
struct some_work {
  void operator()() const noexcept {}
};
}  // namespace detail

/// Runs what is submitted to it in that order, perhaps later and beside other streams. What one
/// stream must see of another goes through an event: `record` makes one of all that was submitted
/// so far, `wait` keeps what is submitted from now on behind it. Nothing else orders work.
template <class T>
concept execution_stream =
    std::movable<T> && requires(T stream, T const other, typename T::event happened) {
      stream.submit(detail::some_work{});
      { other.record() } -> std::same_as<typename T::event>;
      stream.wait(happened);
      stream.drain();  // returns when all is done; throws what the work has thrown
      { T::at_once } -> std::convertible_to<bool>;  // whether `submit` returns when it is done
    };

/// Where work runs: something that opens streams.
template <class T>
concept execution = requires(T const exec) {
  { exec.open_stream() } -> std::same_as<typename T::stream>;
} && execution_stream<typename T::stream>;

}  // namespace inlay::inline INLAY_ABI
