#pragma once

#include <inlay/core/error.hpp>
#include <inlay/exchange/communicator.hpp>
#include <inlay/exchange/rank_meeting.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// One of several ranks that are threads of this process. For tests, and for programs that want
/// many ranks on one machine.
///
/// The k-th operation of all ranks belong together; several may be under way. Bytes move while
/// ranks wait, straight from the sender's memory to the receiver's. A deadline that passes, calls
/// that don't fit together, `fail` or a handle that is dropped end the communicator: whoever waits,
/// and every later call, throws the first reason, which names operation and ranks. Copies are one
/// rank; one thread uses it at a time.
class thread_comm {
 public:
  static constexpr char const* name = "threads";

  /// An operation under way. To drop it before `wait` is a fault and ends the communicator; on the
  /// way out with an exception it is as if the rank had not come. Neither leaves a peer with memory
  /// that is gone.
  class pending {
   public:
    /// Of a rank, by its number.
    pending(std::shared_ptr<rank_meeting> meeting, std::size_t rank, std::uint64_t number) noexcept
        : meeting_(std::move(meeting)), rank_(rank), number_(number) {}
    /// Takes the other's operation.
    pending(pending&& other) noexcept = default;
    /// Drops its own operation, if any, and takes the other's.
    pending& operator=(pending&& other) noexcept {
      auto old = std::move(*this);
      meeting_ = std::move(other.meeting_);
      rank_ = other.rank_;
      number_ = other.number_;
      exceptions_ = other.exceptions_;
      return *this;
    }
    /// Drops the operation if nobody has waited for it.
    ~pending() {
      if (!meeting_) return;
      using how = rank_meeting::dropped;
      meeting_->drop(rank_, number_,
                     std::uncaught_exceptions() > exceptions_ ? how::by_exception
                                                              : how::by_oversight);
    }

    /// Returns when the rank has what others gave and they have what it gave; throws if that can't
    /// be. A second call does nothing.
    void wait(deadline until) {
      if (auto const meeting = std::exchange(meeting_, nullptr)) {
        meeting->wait(rank_, number_, until);
      }
    }

   private:
    std::shared_ptr<rank_meeting> meeting_;
    std::size_t rank_;
    std::uint64_t number_;
    int exceptions_ = std::uncaught_exceptions();
  };

  /// The rank of this number in a meeting; `thread_group` makes them.
  thread_comm(std::shared_ptr<rank_meeting> meeting, std::size_t rank)
      : meeting_(std::move(meeting)), rank_(rank) {}

  [[nodiscard]] std::size_t rank() const noexcept { return rank_; }
  [[nodiscard]] std::size_t size() const noexcept { return meeting_->ranks(); }

  /// Parts of `send` go to the ranks in order; parts of `receive` come from them. Counts are bytes
  /// per rank, and both sides must know them.
  [[nodiscard]] pending all_to_all_v(span<std::byte const> send,
                                     span<std::size_t const> send_counts, span<std::byte> receive,
                                     span<std::size_t const> receive_counts) const {
    expects(send_counts.size() == size() && receive_counts.size() == size(),
            "all_to_all_v needs one count a rank");
    expects(send_counts[rank_] == receive_counts[rank_],
            "what a rank sends itself it must also receive");
    expects(send.size() >= detail::sum_of(send_counts) &&
                receive.size() >= detail::sum_of(receive_counts),
            "a buffer is smaller than its counts say");
    return post({.operation = collective::all_to_all_v,
                 .send = send.data(),
                 .receive = receive.data(),
                 .send_counts = {send_counts.begin(), send_counts.end()},
                 .receive_counts = {receive_counts.begin(), receive_counts.end()}});
  }

  /// As `communicator` asks; every rank gives as much. // receive (ranks, send)
  [[nodiscard]] pending all_gather(span<std::byte const> send, span<std::byte> receive) const {
    expects(receive.size() == send.size() * size(),
            "all_gather receives as much of each rank as it sends");
    return post({.operation = collective::all_gather,
                 .send = send.data(),
                 .receive = receive.data(),
                 .bytes = send.size()});
  }

  /// As `communicator` asks: every value is added in the order of ranks.
  [[nodiscard]] pending all_reduce(span<float> values) const {
    return post({.operation = collective::all_reduce,
                 .receive = reinterpret_cast<std::byte*>(values.data()),
                 .bytes = values.size() * sizeof(float)});
  }

  /// As `communicator` asks.
  [[nodiscard]] pending broadcast(span<std::byte> bytes, std::size_t root) const {
    expects(root < size(), "the root of a broadcast must be a rank");
    return post({.operation = collective::broadcast,
                 .receive = bytes.data(),
                 .bytes = bytes.size(),
                 .root = root});
  }

  void barrier(deadline until) const { post({.operation = collective::barrier}).wait(until); }

  /// Ends the communicator: all ranks get "rank 2: <sentence>", unless they had an error before.
  void fail(std::string const& sentence) const { meeting_->fail(rank_, sentence); }

  /// Bytes that this rank has sent to others so far, see `bytes_to_others`.
  [[nodiscard]] std::uint64_t traffic() const { return meeting_->sent(rank_); }

 private:
  [[nodiscard]] pending post(collective_call call) const {
    return {meeting_, rank_, meeting_->post(rank_, std::move(call))};
  }

  std::shared_ptr<rank_meeting> meeting_;
  std::size_t rank_;
};

static_assert(communicator<thread_comm>);

/// Ranks that are threads of this process. Their communicators may outlive it.
class thread_group {
 public:
  /// Of so many ranks, at least one.
  explicit thread_group(std::size_t ranks) : meeting_(std::make_shared<rank_meeting>(ranks)) {}

  /// How many ranks there are.
  [[nodiscard]] std::size_t size() const noexcept { return meeting_->ranks(); }
  /// A rank's communicator, for the thread that is this rank.
  [[nodiscard]] thread_comm comm(std::size_t rank) const {
    expects(rank < size(), "a group has no such rank");
    return {meeting_, rank};
  }

 private:
  std::shared_ptr<rank_meeting> meeting_;
};

}  // namespace inlay::inline INLAY_ABI
