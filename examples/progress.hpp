#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>

/// Prints how far a run is: at most one line a second.
class progress {
 public:
  explicit progress(std::uint64_t samples) : samples_(samples) {}

  /// `loss`: a function that gives the mean train loss since it was last asked.
  template <class Loss>
  void at(std::uint64_t done, Loss const& loss) {
    auto const now = clock::now();
    if (now - printed_ < std::chrono::seconds(1) && done < samples_) return;
    printed_ = now;
    auto const rate = static_cast<double>(done) / seconds();
    std::printf("%5.1f %%  %9.0f samples/s  %4.0f s left  train loss %.4f\n",
                100.0 * static_cast<double>(done) / static_cast<double>(samples_), rate,
                static_cast<double>(samples_ - done) / rate, loss());
    std::fflush(stdout);
  }

  [[nodiscard]] double seconds() const {
    return std::chrono::duration<double>(clock::now() - begun_).count();
  }

 private:
  using clock = std::chrono::steady_clock;

  std::uint64_t samples_;
  clock::time_point begun_ = clock::now();
  clock::time_point printed_ = begun_;
};
