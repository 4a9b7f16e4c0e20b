#pragma once

#include <inlay/core/config.hpp>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

namespace detail {

/// Runs numbered tasks on the calling thread and a few helpers; one job at a time.
///
/// A step of training is a dozen jobs of some hundred microseconds, and to wake a sleeping thread
/// takes fifty. So helpers watch for a while before they sleep, and a job waits for those that have
/// joined it only: one that wakes up too late finds it closed.
class thread_pool {
 public:
  explicit thread_pool(std::size_t threads) {
    helpers_.reserve(threads - 1);
    try {
      while (helpers_.size() + 1 < threads) {
        helpers_.emplace_back([this, worker = helpers_.size() + 1] { help(worker); });
      }
    } catch (...) {
      stop();
      throw;
    }
  }
  thread_pool(thread_pool const&) = delete;
  thread_pool& operator=(thread_pool const&) = delete;
  ~thread_pool() { stop(); }

  [[nodiscard]] std::size_t threads() const noexcept { return helpers_.size() + 1; }

  /// Calls task(context, 0) .. task(context, count - 1) and returns when all are done, also when
  /// some throw: the exception of the lowest number then travels to the caller. A call from inside
  /// a task, or while another thread uses the pool, runs here alone: no result may depend on who
  /// runs a task, so that is only slower.
  void run(std::size_t count, void (*task)(void const*, std::size_t, std::size_t),
           void const* context) {
    for (auto const* at = current(); at != nullptr; at = at->outer) {
      if (at->pool != this) continue;
      run_alone(count, task, context, at->worker);  // the owner must not lock again
      return;
    }
    if (helpers_.empty() || count < 2) {
      run_alone(count, task, context, 0);
      return;
    }
    std::unique_lock const owner(use_, std::try_to_lock);
    if (!owner) {
      run_alone(count, task, context, 0);
      return;
    }
    job_ = {task, context, count};
    next_.store(0, std::memory_order_relaxed);
    failed_number_ = count;
    failure_ = nullptr;
    open_job();
    work(0);
    close_job();
    if (failure_) {
      std::rethrow_exception(std::exchange(failure_, nullptr));
    }
  }

 private:
  struct job {
    void (*task)(void const*, std::size_t, std::size_t) = nullptr;
    void const* context = nullptr;
    std::size_t count = 0;
  };

  // What `state_` holds: the number of the job above, whether it may be joined, and below how many
  // helpers are at it.
  static constexpr std::uint64_t one_job = std::uint64_t{1} << 32U;
  static constexpr std::uint64_t is_open = std::uint64_t{1} << 31U;
  static constexpr std::uint64_t joined = is_open - 1;

  /// As with helpers, a task that throws does not keep the others from running.
  static void run_alone(std::size_t count, void (*task)(void const*, std::size_t, std::size_t),
                        void const* context, std::size_t worker) {
    std::exception_ptr failure;
    for (std::size_t number = 0; number < count; ++number) {
      try {
        task(context, number, worker);
      } catch (...) {
        if (!failure) failure = std::current_exception();
      }
    }
    if (failure) {
      std::rethrow_exception(failure);
    }
  }

  /// For whom this thread runs a task, and within which task of another pool.
  struct place {
    thread_pool const* pool;
    std::size_t worker;
    place const* outer;
  };
  [[nodiscard]] static place const*& current() noexcept {
    thread_local place const* here = nullptr;
    return here;
  }

  /// Watches for `done()`, for about as long as it takes to wake a thread; returns what it said.
  template <class Done>
  [[nodiscard]] static bool watch(Done const& done) noexcept {
    for (int looks = 0; looks < 2000; ++looks) {
      if (done()) return true;
      pause();
    }
    return done();
  }
  static void pause() noexcept {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }

  void open_job() {
    state_.store((state_.load() & ~(one_job - 1)) + one_job + is_open);
    if (sleepers_.load() > 0) {
      std::lock_guard const lock(mutex_);
      start_.notify_all();
    }
  }

  void close_job() {
    state_.fetch_and(~is_open);
    auto const all_left = [this] { return (state_.load() & joined) == 0; };
    if (watch(all_left)) return;
    std::unique_lock lock(mutex_);
    done_.wait(lock, all_left);
  }

  void work(std::size_t worker) {
    place const here{this, worker, current()};
    current() = &here;
    for (auto number = next_.fetch_add(1); number < job_.count; number = next_.fetch_add(1)) {
      try {
        job_.task(job_.context, number, worker);
      } catch (...) {
        std::lock_guard const lock(mutex_);
        if (number < failed_number_) {
          failed_number_ = number;
          failure_ = std::current_exception();
        }
      }
    }
    current() = here.outer;
  }

  void help(std::size_t worker) {
    std::uint64_t seen = 0;
    auto const is_called = [&] { return stopping_.load() || state_.load() / one_job != seen; };
    for (;;) {
      if (!watch(is_called)) {
        std::unique_lock lock(mutex_);
        ++sleepers_;
        start_.wait(lock, is_called);
        --sleepers_;
      }
      if (stopping_.load()) return;
      auto state = state_.load();
      while ((state & is_open) != 0) {
        if (!state_.compare_exchange_weak(state, state + 1)) continue;
        work(worker);
        leave();
        break;
      }
      seen = state / one_job;
    }
  }

  /// The last helper that leaves a closed job tells its owner.
  void leave() {
    auto const before = state_.fetch_sub(1);
    if ((before & joined) == 1 && (before & is_open) == 0) {
      std::lock_guard const lock(mutex_);
      done_.notify_one();
    }
  }

  void stop() noexcept {
    stopping_.store(true);
    {
      std::lock_guard const lock(mutex_);
      start_.notify_all();
    }
    for (auto& helper : helpers_) {
      helper.join();
    }
  }

  std::mutex use_;  // held by the thread whose job runs
  std::atomic<std::uint64_t> state_ = 0;
  job job_;  // written while nobody is at it
  std::atomic<std::size_t> next_ = 0;

  std::mutex mutex_;  // for what follows
  std::condition_variable start_;
  std::condition_variable done_;
  std::size_t failed_number_ = 0;
  std::exception_ptr failure_;
  std::atomic<std::size_t> sleepers_ = 0;
  std::atomic<bool> stopping_ = false;
  std::vector<std::thread> helpers_;
};

}  // namespace detail

}  // namespace inlay::inline INLAY_ABI
