#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/execution.hpp>
#include <inlay/core/host_stream.hpp>
#include <inlay/core/thread_pool.hpp>

#include <algorithm>
#include <cstddef>
#include <memory>
#include <thread>

namespace inlay::inline INLAY_ABI {

/// Execution on the host: a few threads of its own, shared by all copies of the handle.
///
/// Work is cut into pieces by size alone, never by the number of threads, so that no result depends
/// on it. OpenMP is not used: its runtime hides races from the thread sanitizer.
class host_exec {
 public:
  static constexpr char const* name = "host";
  /// Runs work at once.
  using stream = host_stream;

  /// As many threads as the machine runs at once.
  host_exec() : host_exec(std::max(1U, std::thread::hardware_concurrency())) {}
  /// With so many threads, the calling one included; at least one.
  explicit host_exec(std::size_t threads) {
    expects(threads > 0, "an execution needs at least one thread");
    expects(threads <= 65'536, "an execution has at most 65,536 threads");
    pool_ = std::make_shared<detail::thread_pool>(threads);
  }

  /// How many threads work, the calling one included.
  [[nodiscard]] std::size_t threads() const noexcept { return pool_->threads(); }

  /// One more stream.
  [[nodiscard]] stream open_stream() const noexcept { return {}; }

  /// Memory that will be used again: nothing of it is still in use.
  template <class T>
  static void give_back(buffer<T>&) noexcept {}

  /// Calls body(first, last) for consecutive pieces of [0, count) of `grain` items each, side by
  /// side.
  template <class Body>
  void for_pieces(std::size_t count, std::size_t grain, Body const& body) const {
    for_pieces_worker(count, grain,
                      [&](std::size_t first, std::size_t last, std::size_t) { body(first, last); });
  }

  /// The same with body(first, last, worker): `worker` as in `for_each_worker`.
  template <class Body>
  void for_pieces_worker(std::size_t count, std::size_t grain, Body const& body) const {
    auto const size = std::max<std::size_t>(grain, 1);
    for_each_worker(count / size + (count % size != 0 ? 1 : 0),
                    [&](std::size_t piece, std::size_t worker) {
                      auto const first = piece * size;
                      body(first, first + std::min(size, count - first), worker);
                    });
  }

  /// Calls body(i) for every i of [0, count), side by side.
  template <class Body>
  void for_each(std::size_t count, Body const& body) const {
    for_each_worker(count, [&](std::size_t i, std::size_t) { body(i); });
  }

  /// Calls body(i, worker) for every i of [0, count), side by side; within the call `worker` <
  /// threads() belongs to one thread at a time, so that it can have memory of its own.
  template <class Body>
  void for_each_worker(std::size_t count, Body const& body) const {
    pool_->run(
        count,
        [](void const* context, std::size_t number, std::size_t worker) {
          (*static_cast<Body const*>(context))(number, worker);
        },
        &body);
  }

 private:
  std::shared_ptr<detail::thread_pool> pool_;
};

static_assert(execution<host_exec>);

}  // namespace inlay::inline INLAY_ABI
