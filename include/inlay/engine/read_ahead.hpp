#pragma once

#include <inlay/batch/batch_view.hpp>

#include <cstdint>
#include <deque>
#include <exception>
#include <optional>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// How far training has got in a stream of samples, and the global batches that were read ahead of
/// it. What goes wrong while reading ahead waits for its turn, so it comes up where it would have
/// without.
template <class Lease>
class read_ahead {
 public:
  /// A batch of which the rows are sent for; or what went wrong.
  struct entry {
    sample_range range;               ///< its samples
    std::optional<Lease> rows;        ///< or none
    std::exception_ptr failure = {};  ///< where there is none
  };

  /// Samples that were trained on, or are at hand.
  [[nodiscard]] std::uint64_t position() const noexcept { return position_; }
  /// The first sample to be read next.
  [[nodiscard]] std::uint64_t next() const noexcept {
    return entries_.empty() ? position_ : entries_.back().range.last;
  }
  /// Batches that were read ahead.
  [[nodiscard]] std::size_t size() const noexcept { return entries_.size(); }
  /// Whether reading must wait, until a failure has come up.
  [[nodiscard]] bool has_failed() const noexcept {
    return !entries_.empty() && entries_.back().failure != nullptr;
  }

  /// Whoever gives the samples; what was read of another one is forgotten.
  void follow(void const* stream) noexcept {
    if (stream != stream_) entries_.clear();
    stream_ = stream;
  }

  /// Adds what `open()` returns for a range, or what it throws.
  template <class Open>
  void add(sample_range range, Open&& open) {
    auto& added = entries_.emplace_back(entry{range, std::nullopt});
    try {
      added.rows.emplace(std::forward<Open>(open)());
    } catch (...) {
      added.failure = std::current_exception();
    }
  }

  /// The oldest batch; all that was read is forgotten if it is a failure.
  [[nodiscard]] entry take() {
    auto oldest = std::move(entries_.front());
    entries_.pop_front();
    return oldest;
  }

  /// Forgets what was read ahead.
  void forget() noexcept { entries_.clear(); }
  /// Goes on behind a sample, or begins anew at 0.
  void go_to(std::uint64_t position) noexcept { position_ = position; }

 private:
  void const* stream_ = nullptr;
  std::uint64_t position_ = 0;
  std::deque<entry> entries_;
};

}  // namespace inlay::inline INLAY_ABI
