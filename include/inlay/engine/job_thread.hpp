#pragma once

#include <inlay/core/config.hpp>

#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// Runs jobs one after the other, in the order in which they come, on a thread that begins with the
/// first of them. One thread posts and waits.
///
/// A job is memory of whoever posts it, so that no post but the first can fail: a lease that ends
/// must be able to say so.
class job_thread {
 public:
  /// Something to do: run(context), which must not throw. It stays where it is until it is done.
  struct job {
    void (*run)(void*) noexcept = nullptr;  ///< what is called
    void* context = nullptr;                ///< with what
    job* next = nullptr;                    ///< in the queue
    bool done = true;                       ///< or never posted; `wait` asks
  };

  job_thread() = default;
  job_thread(job_thread const&) = delete;
  job_thread& operator=(job_thread const&) = delete;
  ~job_thread() { stop(); }

  /// Whether any job was ever posted.
  [[nodiscard]] bool started() const noexcept { return thread_.joinable(); }

  /// Queues a job. Throws only if the first one finds no thread.
  void post(job& added) {
    if (!started()) thread_ = std::thread([this] { work(); });
    {
      std::lock_guard const lock(mutex_);
      added.next = nullptr;
      added.done = false;
      (newest_ == nullptr ? oldest_ : newest_->next) = &added;
      newest_ = &added;
    }
    posted_.notify_one();
  }

  /// Returns when the job is done, or never will be: after `stop`.
  void wait(job const& awaited) {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [&] { return awaited.done || stopping_; });
  }

  /// Returns when all jobs are done.
  void settle() {
    std::unique_lock lock(mutex_);
    finished_.wait(lock, [&] { return (oldest_ == nullptr && !busy_) || stopping_; });
  }

  /// Finishes the job at hand and forgets the others.
  void stop() noexcept {
    if (!started()) return;
    {
      std::lock_guard const lock(mutex_);
      stopping_ = true;
    }
    posted_.notify_one();
    thread_.join();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      posted_.wait(lock, [this] { return stopping_ || oldest_ != nullptr; });
      if (stopping_) return;
      auto& next = *oldest_;
      oldest_ = next.next;
      if (oldest_ == nullptr) newest_ = nullptr;
      busy_ = true;
      lock.unlock();
      next.run(next.context);
      lock.lock();
      busy_ = false;
      next.done = true;
      finished_.notify_all();
    }
  }

  std::mutex mutex_;  // guards all below but the thread
  std::condition_variable posted_;
  std::condition_variable finished_;
  job* oldest_ = nullptr;
  job* newest_ = nullptr;
  bool busy_ = false;
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace inlay::inline INLAY_ABI
