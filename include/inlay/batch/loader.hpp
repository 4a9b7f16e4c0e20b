#pragma once

#include <inlay/batch/batch.hpp>
#include <inlay/batch/batch_source.hpp>
#include <inlay/batch/batch_view.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/hash.hpp>
#include <inlay/core/permutation.hpp>
#include <inlay/core/views.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <iterator>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// In which order a loader meets the samples of an epoch.
enum class sample_order {
  shuffled,  ///< another random one each epoch
  given      ///< that of the list
};

/// How a loader walks through its samples.
struct loader_options {
  std::uint64_t seed = 1;    ///< of the shuffles
  std::uint64_t epochs = 1;  ///< times that every sample is seen
  std::size_t read_ahead =
      1;  ///< ranges that a thread reads before they are asked for; 0: no thread
  sample_order order = sample_order::shuffled;  ///< within an epoch
};

/// Samples of a source at positions 0 .. samples * epochs, shuffled and read ahead.
///
/// Position p is sample number permutation_of_epoch(p / n)(p % n) of the list of n, so that any
/// range can be read by anybody and is the same whoever reads it; ranges may cross epochs. A thread
/// reads the ranges that follow the last one, of its length; any other range is right too, only
/// slower. The source must outlive the loader. One thread may call `read` at a time.
class loader {
 public:
  /// Over the listed samples of a source.
  template <batch_source Source>
  loader(Source const& source, std::vector<std::uint64_t> samples,
         loader_options const& options = {})
      : source_(&source),
        read_source_([](void const* from, span<std::uint64_t const> wanted, batch& into) {
          static_cast<Source const*>(from)->read(wanted, into);
        }),
        fields_(source.fields()),
        dense_width_(source.dense_width()),
        samples_(std::move(samples)),
        options_(options) {
    check_samples(source.size());
    if (options_.read_ahead > 0) {
      thread_ = std::thread([this] { work(); });
    }
  }
  /// A temporary would be gone before the first read.
  template <batch_source Source>
  loader(Source const&& source, std::vector<std::uint64_t> samples,
         loader_options const& options = {}) = delete;

  loader(loader const&) = delete;
  loader& operator=(loader const&) = delete;

  /// Waits for the thread to end the range it reads, if any.
  ~loader() {
    if (thread_.joinable()) {
      {
        std::lock_guard const lock(state_);
        stopping_ = true;
      }
      wake_.notify_all();
      thread_.join();
    }
  }

  /// Number of positions.
  [[nodiscard]] std::uint64_t size() const noexcept { return samples_.size() * options_.epochs; }
  /// Fields of the source.
  [[nodiscard]] std::size_t fields() const noexcept { return fields_; }
  /// Dense features of the source.
  [[nodiscard]] std::size_t dense_width() const noexcept { return dense_width_; }

  /// Number, within the source, of the sample at a position below size().
  [[nodiscard]] std::uint64_t sample(std::uint64_t position) const noexcept {
    auto const count = samples_.size();
    auto const place = position % count;
    return samples_[options_.order == sample_order::given ? place
                                                          : shuffle(position / count)(place)];
  }

  /// The samples at these positions; the view lives until the next call. What the source throws,
  /// here or on the thread, is thrown by the call that asks for the range.
  [[nodiscard]] batch_view read(sample_range const& range) {
    if (range.first > range.last || range.last > size()) {
      fail("positions " + std::to_string(range.first) + " to " + std::to_string(range.last) +
           " were asked of a loader of " + std::to_string(size()));
    }
    if (!thread_.joinable() || range.empty() || !take_ahead(range)) fill(range, current_);
    return current_.content.view();
  }

 private:
  /// A range, and what was read of it.
  struct piece {
    sample_range range;
    buffer<std::uint64_t> samples;
    batch content;
    std::exception_ptr failure;
  };

  void check_samples(std::uint64_t available) const {
    for (auto const sample : samples_) {
      if (sample >= available) {
        fail("sample " + std::to_string(sample) + " is listed, but the source has only " +
             std::to_string(available));
      }
    }
    expects(samples_.empty() || options_.epochs <= ~std::uint64_t{0} / samples_.size(),
            "a loader has fewer than 2^64 positions");
  }

  [[nodiscard]] permutation shuffle(std::uint64_t epoch) const noexcept {
    return {samples_.size(), mix(options_.seed, epoch)};
  }

  /// The range of the same length that follows, cut short by the end; empty at the end.
  [[nodiscard]] sample_range after(sample_range const& range) const noexcept {
    return {range.last, range.last + std::min(range.size(), size() - range.last)};
  }

  [[nodiscard]] static bool same(sample_range const& left, sample_range const& right) noexcept {
    return left.first == right.first && left.last == right.last;
  }

  void fill(sample_range const& range, piece& into) const {
    into.samples.resize(range.size());
    for (std::uint64_t position = range.first; position < range.last; ++position) {
      into.samples[position - range.first] = sample(position);
    }
    read_source_(source_, std::as_const(into.samples).view(), into.content);
  }

  /// Moves what was read ahead of this range into current_. If it is not the range that was
  /// expected, the thread is sent to what follows it, and the answer is no.
  [[nodiscard]] bool take_ahead(sample_range const& range) {
    std::unique_lock lock(state_);
    bool const expected = same(range, expected_);
    if (expected) {
      arrived_.wait(lock, [this] { return !ahead_.empty(); });
      spare_.push_back(std::exchange(current_, std::move(ahead_.front())));
      ahead_.pop_front();
      expected_ = after(range);
      if (current_.failure) {
        follow({});
        std::rethrow_exception(std::exchange(current_.failure, nullptr));
      }
    } else {
      follow(after(range));
    }
    lock.unlock();
    wake_.notify_one();
    return expected;
  }

  /// Forgets what was read ahead and plans to begin with this range.
  void follow(sample_range const& range) {
    expected_ = range;
    next_ = range;
    ++plan_;
    std::move(ahead_.begin(), ahead_.end(), std::back_inserter(spare_));
    ahead_.clear();
  }

  void work() {
    std::unique_lock lock(state_);
    for (;;) {
      wake_.wait(lock, [this] {
        return stopping_ || (!next_.empty() && ahead_.size() < options_.read_ahead);
      });
      if (stopping_) {
        return;
      }
      piece reading;
      if (!spare_.empty()) {
        reading = std::move(spare_.back());
        spare_.pop_back();
      }
      reading.range = next_;
      reading.failure = nullptr;
      auto const plan = plan_;
      lock.unlock();
      try {
        fill(reading.range, reading);
      } catch (...) {
        reading.failure = std::current_exception();
      }
      lock.lock();
      if (plan == plan_) {
        next_ = after(reading.range);
        ahead_.push_back(std::move(reading));
        arrived_.notify_one();
      } else {
        spare_.push_back(std::move(reading));
      }
    }
  }

  void const* source_;
  void (*read_source_)(void const*, span<std::uint64_t const>, batch&);
  std::size_t fields_;
  std::size_t dense_width_;
  std::vector<std::uint64_t> samples_;
  loader_options options_;
  piece current_;  // of the calling thread

  std::mutex state_;  // guards all below
  std::condition_variable wake_;
  std::condition_variable arrived_;
  sample_range expected_;     // what ahead_ begins with, now or when the thread has read it
  sample_range next_;         // what the thread reads next or is reading
  std::uint64_t plan_ = 0;    // counts changes of mind
  std::deque<piece> ahead_;   // read, not yet asked for
  std::vector<piece> spare_;  // memory to read into
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace inlay::inline INLAY_ABI
