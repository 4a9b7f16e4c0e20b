#pragma once

#include <inlay/core/execution.hpp>
#include <inlay/core/host_stream.hpp>

#include <utility>

namespace inlay::inline INLAY_ABI {

/// The two ways that rows travel between a table and a cache before it. Both streams are the only
/// ones that touch homes of cached rows, so a row that is on its way back is home before a later
/// step fetches it.
template <execution_stream Stream>
class row_streams {
 public:
  /// A moment in the order of a stream.
  using event = typename Stream::event;
  /// Whether what is submitted is done when the call returns.
  static constexpr bool at_once = Stream::at_once;

  /// On two streams of an execution.
  template <class Exec>
  explicit row_streams(Exec const& exec) : out_(exec.open_stream()), in_(exec.open_stream()) {}

  /// Nothing of later plans moves before this has happened: what was last done with rows that may
  /// leave now, be it their update or, if nobody used them, their arrival.
  void wait(event happened) { out_.wait(happened); }

  /// Moves the rows of a plan: `leave` writes victims back, `come` fills their slots after that.
  template <class Leave, class Come>
  void move(Leave&& leave, Come&& come) {
    out_.submit(std::forward<Leave>(leave));
    in_.wait(out_.record());
    in_.submit(std::forward<Come>(come));
  }

  /// When all rows that were to come are there.
  [[nodiscard]] event arrived() const { return in_.record(); }

  /// Returns when nothing is on its way.
  void drain() {
    out_.drain();
    in_.drain();
  }

 private:
  Stream out_;
  Stream in_;
};

}  // namespace inlay::inline INLAY_ABI
