#pragma once

#include <inlay/core/error.hpp>
#include <inlay/exchange/thread_comm.hpp>

#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace inlay::inline INLAY_ABI {

namespace detail {

/// The exception that ended a group first.
class first_failure {
 public:
  /// To be called in a handler.
  void note() noexcept {
    std::lock_guard const lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
  /// The same for what only follows from another rank's failure, which counts if there is no other.
  void note_consequence() noexcept {
    std::lock_guard const lock(mutex_);
    if (!consequence_) consequence_ = std::current_exception();
  }
  void rethrow_if_any() const {
    if (failure_) std::rethrow_exception(failure_);
    if (consequence_) std::rethrow_exception(consequence_);
  }

 private:
  std::mutex mutex_;
  std::exception_ptr failure_;
  std::exception_ptr consequence_;
};

template <class Body>
void run_rank(thread_comm const& comm, Body const& body, first_failure& failure) noexcept {
  try {
    body(comm);
  } catch (peer_error const& fault) {
    failure.note_consequence();
    comm.fail(fault.sentence());
  } catch (error const& fault) {
    failure.note();  // before the others hear of it and fail too
    comm.fail(fault.sentence());
  } catch (std::exception const& fault) {
    failure.note();
    comm.fail(fault.what());
  } catch (...) {
    failure.note();
    comm.fail("it failed without a sentence");
  }
}

}  // namespace detail

/// Calls body(thread_comm) for `count` ranks, each on a thread of its own, and returns when all are
/// through. If one throws, the communicator ends with its sentence, so that no other waits for it,
/// and the caller gets the exception of the rank that failed first, of its own accord if any did.
template <class Body>
void run_ranks(std::size_t count, Body const& body) {
  thread_group const group(count);
  detail::first_failure failure;
  std::vector<std::thread> threads;
  try {
    threads.reserve(count);
    while (threads.size() < count) {
      threads.emplace_back(
          [&, comm = group.comm(threads.size())] { detail::run_rank(comm, body, failure); });
    }
  } catch (...) {
    failure.note();
    group.comm(threads.size()).fail("it got no thread");
  }
  for (auto& thread : threads) {
    thread.join();
  }
  failure.rethrow_if_any();
}

}  // namespace inlay::inline INLAY_ABI
