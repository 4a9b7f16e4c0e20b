#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/execution.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/random.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

namespace detail {

/// Work that streams have been given and not done yet.
class deferred_work {
 public:
  explicit deferred_work(std::uint64_t seed) : random_{seed} {}

  std::size_t open() {
    streams_.emplace_back();
    return streams_.size() - 1;
  }

  void submit(std::size_t stream, std::function<void()> work) {
    streams_[stream].queue.push_back({std::move(work), 0, 0});
    for (auto runs = draw(3) == 0 ? draw(5) : 0; runs > 0 && run_any(); --runs) {}  // time goes by
  }

  /// What comes on `stream` waits for the first `count` items of `other`.
  void wait(std::size_t stream, std::size_t other, std::uint64_t count) {
    streams_[stream].queue.push_back({{}, other, count});
  }

  /// Items that a stream was ever given.
  [[nodiscard]] std::uint64_t given(std::size_t stream) const noexcept {
    return streams_[stream].done + streams_[stream].queue.size();
  }

  /// Runs whatever is ready, of all streams, until this one has nothing left.
  void drain(std::size_t stream) {
    while (!streams_[stream].queue.empty()) {
      expects(run_any(), "streams wait for each other in a circle");
    }
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }

 private:
  struct item {
    std::function<void()> work;  // or none: wait
    std::size_t other;
    std::uint64_t count;
  };
  struct line {
    std::deque<item> queue;
    std::uint64_t done = 0;
  };

  [[nodiscard]] std::size_t draw(std::size_t below) {
    return static_cast<std::size_t>(random_.bits(draws_++) % below);
  }

  [[nodiscard]] bool is_ready(line const& of) const {
    if (of.queue.empty()) return false;
    auto const& next = of.queue.front();
    return next.work != nullptr || streams_[next.other].done >= next.count;
  }

  /// Runs the next item of some stream whose next item may run; false if there is none.
  bool run_any() {
    std::vector<std::size_t> ready;
    for (std::size_t at = 0; at < streams_.size(); ++at) {
      if (is_ready(streams_[at])) ready.push_back(at);
    }
    if (ready.empty()) return false;
    auto& chosen = streams_[ready[draw(ready.size())]];
    auto const work = std::move(chosen.queue.front().work);
    chosen.queue.pop_front();
    try {
      if (work) work();
    } catch (...) {
      if (!failure_) failure_ = std::current_exception();
    }
    ++chosen.done;
    return true;
  }

  random_stream random_;
  std::uint64_t draws_ = 0;
  std::deque<line> streams_;
  std::exception_ptr failure_;
};

}  // namespace detail

/// A host whose streams put work off, as a device's do: it runs in an order that the streams and
/// their events allow, drawn by a seed, some of it when more is submitted and the rest at `drain`.
/// A test that passes for a thousand seeds has no event missing. One thread uses it, and what is
/// cut into pieces runs on that thread.
class shuffled_exec : public host_exec {
 public:
  static constexpr char const* name = "shuffled";

  /// The order is a function of the seed and of what is submitted.
  explicit shuffled_exec(std::uint64_t seed = 1)
      : host_exec(1), work_(std::make_shared<detail::deferred_work>(seed)) {}

  /// A stream whose work runs later.
  class stream {
   public:
    /// `submit` returns before the work is done.
    static constexpr bool at_once = false;
    /// A moment in the order of a stream.
    struct event {
      std::size_t of = 0;       ///< which stream
      std::uint64_t count = 0;  ///< how much it had been given; 0: has happened
    };

    /// Opened by an execution.
    explicit stream(std::shared_ptr<detail::deferred_work> work)
        : work_(std::move(work)), number_(work_->open()) {}

    /// Puts work off. What it refers to must stay until it is done.
    template <class Work>
    void submit(Work&& work) {
      work_->submit(number_, std::forward<Work>(work));
    }
    /// When all that was submitted so far is done.
    [[nodiscard]] event record() const { return {number_, work_->given(number_)}; }
    /// What is submitted from now on comes after the event.
    void wait(event happened) { work_->wait(number_, happened.of, happened.count); }
    /// Does all that is left, and throws what any work has thrown.
    void drain() { work_->drain(number_); }

   private:
    std::shared_ptr<detail::deferred_work> work_;
    std::size_t number_;
  };

  /// One more stream.
  [[nodiscard]] stream open_stream() const { return stream(work_); }

  /// Memory that is given back is made unfit for use: whoever still reads it finds nonsense.
  template <class T>
  static void give_back(buffer<T>& memory) noexcept {
    if (memory.size() > 0)
      std::memset(static_cast<void*>(memory.data()), 0xa5, memory.size() * sizeof(T));
  }

 private:
  std::shared_ptr<detail::deferred_work> work_;
};

static_assert(execution<shuffled_exec>);

}  // namespace inlay::inline INLAY_ABI
