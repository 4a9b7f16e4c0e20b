#pragma once

#include <inlay/core/execution.hpp>

namespace inlay::inline INLAY_ABI {

/// A stream of the host: what is submitted runs at once, on the thread that submits it, so order
/// comes by itself.
class host_stream {
 public:
  /// `submit` returns when the work is done.
  static constexpr bool at_once = true;
  /// Has always happened.
  struct event {};

  template <class Work>
  void submit(Work&& work) const {
    work();
  }
  [[nodiscard]] event record() const noexcept { return {}; }
  void wait(event) const noexcept {}
  void drain() const noexcept {}
};

static_assert(execution_stream<host_stream>);

}  // namespace inlay::inline INLAY_ABI
