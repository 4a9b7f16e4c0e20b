#pragma once

#include <inlay/exchange/communicator.hpp>

#include <algorithm>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// One rank, alone: every operation is done when it is called.
class self_comm {
 public:
  static constexpr char const* name = "self";

  struct done {
    void wait(deadline) const noexcept {}
  };

  [[nodiscard]] constexpr std::size_t rank() const noexcept { return 0; }
  [[nodiscard]] constexpr std::size_t size() const noexcept { return 1; }

  /// The bytes for rank 0 come back. Counts are bytes per rank.
  [[nodiscard]] done all_to_all_v(span<std::byte const> send, span<std::size_t const> send_counts,
                                  span<std::byte> receive,
                                  span<std::size_t const> receive_counts) const {
    expects(send_counts.size() == 1 && receive_counts.size() == 1, "one rank has one count");
    expects(send_counts[0] == receive_counts[0], "what rank 0 sends itself it must also receive");
    expects(send.size() >= send_counts[0] && receive.size() >= receive_counts[0],
            "a buffer is smaller than its counts say");
    std::copy_n(send.begin(), send_counts[0], receive.begin());
    return {};
  }

  /// As `communicator` asks. // receive as send
  [[nodiscard]] done all_gather(span<std::byte const> send, span<std::byte> receive) const {
    expects(receive.size() == send.size(), "one rank gathers as much as it sends");
    std::copy(send.begin(), send.end(), receive.begin());
    return {};
  }

  /// As `communicator` asks: the sum of one is itself.
  [[nodiscard]] done all_reduce(span<float>) const noexcept { return {}; }

  /// As `communicator` asks; the root must be 0.
  [[nodiscard]] done broadcast(span<std::byte>, std::size_t root) const {
    expects(root == 0, "one rank has no other root than rank 0");
    return {};
  }

  void barrier(deadline) const noexcept {}
};

static_assert(communicator<self_comm>);

}  // namespace inlay::inline INLAY_ABI
