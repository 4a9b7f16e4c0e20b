#pragma once

#include <inlay/core/error.hpp>
#include <inlay/exchange/collective_call.hpp>
#include <inlay/exchange/communicator.hpp>
#include <inlay/exchange/shared_operation.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// Where the ranks of a `thread_group` meet: their operations under way, and why they ended if they
/// did.
///
/// A rank that waits for an operation first moves the bytes of those that it has posted before, so
/// that ranks which wait in unlike orders can't block each other. Bytes are moved outside the lock,
/// by the receiving rank; a rank that gives up waits until nobody reads its memory any more.
class rank_meeting {
 public:
  /// How a handle ended that nobody waited for.
  enum class dropped : std::uint8_t {
    by_oversight,  ///< the program went on
    by_exception   ///< the rank is on its way out, with a sentence that says more
  };

  /// Of so many ranks, at least one.
  explicit rank_meeting(std::size_t ranks) : places_(ranks) {
    expects(ranks > 0, "a group needs at least one rank");
  }

  /// How many ranks meet.
  [[nodiscard]] std::size_t ranks() const noexcept { return places_.size(); }

  /// Begins the rank's next operation and returns its number, from 1 up.
  [[nodiscard]] std::uint64_t post(std::size_t rank, collective_call call) {
    std::lock_guard const lock(mutex_);
    throw_if_dead();
    auto const number = places_[rank].posted + 1;
    if (number - first_number_ == operations_.size()) {
      operations_.emplace_back(ranks(), call.operation, number);
    }
    auto& operation = at(number);
    if (auto const wrong = operation.misfit_of(rank, call); !wrong.empty()) {
      die(wrong);
      throw_if_dead();
    }
    places_[rank].posted = number;
    places_[rank].sent += bytes_to_others(call, rank, ranks());
    operation.come(rank, std::move(call));
    changed_.notify_all();
    return number;
  }

  /// Ends the rank's operation of this number: it has read what is its own, and others have read
  /// what it gave.
  void wait(std::size_t rank, std::uint64_t number, deadline until) {
    std::unique_lock lock(mutex_);
    throw_when_quiet(lock);
    while (places_[rank].moved < number) {
      move(lock, rank, at(places_[rank].moved + 1), until);
      ++places_[rank].moved;
    }
    auto& operation = at(number);
    await(lock, rank, operation, operation.before_leave(rank), until);
    leave(rank, operation);
  }

  /// Ends it without its bytes. If others may still need the rank, all is over; one that is on its
  /// way out is instead as if it had not come, so that its own sentence can reach the others.
  void drop(std::size_t rank, std::uint64_t number, dropped how) noexcept {
    std::unique_lock lock(mutex_);
    auto& operation = at(number);
    changed_.wait(lock, [&] { return operation.readers == 0; });
    if (dead_.empty() && !operation.met(operation.everybody(progress::read))) {
      if (how == dropped::by_exception) return operation.set(rank, progress::absent);
      die(detail::rank_word(rank) + " dropped " + operation.words() + " without waiting for it");
    }
    leave(rank, operation);
  }

  /// Ends all operations of all ranks with this sentence, unless they have ended.
  void fail(std::size_t rank, std::string const& sentence) {
    std::lock_guard const lock(mutex_);
    die(detail::rank_word(rank) + ": " + sentence);
  }

  /// Bytes that the rank has sent to others.
  [[nodiscard]] std::uint64_t sent(std::size_t rank) const {
    std::lock_guard const lock(mutex_);
    return places_[rank].sent;
  }

 private:
  using progress = shared_operation::progress;
  using lock_type = std::unique_lock<std::mutex>;

  /// Where a rank is: the numbers of its last operations posted, and with its bytes moved.
  struct place {
    std::uint64_t posted = 0;
    std::uint64_t moved = 0;
    std::uint64_t sent = 0;  // bytes
  };

  [[nodiscard]] shared_operation& at(std::uint64_t number) noexcept {
    return operations_[number - first_number_];
  }

  void die(std::string const& reason) {
    if (!dead_.empty()) return;
    dead_ = reason;
    changed_.notify_all();
  }
  void throw_if_dead() const {
    if (!dead_.empty()) fail_by_peer(dead_);
  }
  /// The memory that the exception may free is read by nobody.
  void throw_when_quiet(lock_type& lock) {
    if (dead_.empty()) return;
    changed_.wait(lock, [&] {
      return std::all_of(operations_.begin(), operations_.end(),
                         [](auto const& operation) { return operation.readers == 0; });
    });
    throw_if_dead();
  }

  /// Waits for others, or throws.
  void await(lock_type& lock, std::size_t rank, shared_operation const& operation,
             shared_operation::awaited const& others, deadline until) {
    auto const came =
        changed_.wait_until(lock, until, [&] { return !dead_.empty() || operation.met(others); });
    if (!came) die(give_up(rank, operation, others));
    throw_when_quiet(lock);
  }

  [[nodiscard]] static std::string give_up(std::size_t rank, shared_operation const& operation,
                                           shared_operation::awaited others) {
    auto const waited = detail::rank_word(rank) + " waited for " + operation.words() + ", and ";
    auto const slow = operation.behind(others);
    others.at_least = progress::came;
    auto const absent = operation.behind(others);
    return absent.empty() ? waited + detail::rank_words(slow) + " did not wait for it too"
                          : waited + detail::rank_words(absent) + " did not come";
  }

  /// Reads what the rank is to have from an operation.
  void move(lock_type& lock, std::size_t rank, shared_operation& operation, deadline until) {
    await(lock, rank, operation, operation.before_read(rank), until);
    read(lock, operation, [&] { operation.read(rank); });
    if (operation.operation() == collective::all_reduce) {
      operation.set(rank, progress::summed);
      changed_.notify_all();
      await(lock, rank, operation, operation.everybody(progress::summed), until);
      read(lock, operation, [&] { operation.read_sums(rank); });
    }
    operation.set(rank, progress::read);
    changed_.notify_all();
  }

  template <class Read>
  void read(lock_type& lock, shared_operation& operation, Read const& read_bytes) noexcept {
    ++operation.readers;
    lock.unlock();
    read_bytes();
    lock.lock();
    --operation.readers;
    changed_.notify_all();
  }

  void leave(std::size_t rank, shared_operation& operation) noexcept {
    operation.set(rank, progress::left);
    while (!operations_.empty() &&
           operations_.front().met(operations_.front().everybody(progress::left))) {
      operations_.pop_front();
      ++first_number_;
    }
  }

  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<shared_operation> operations_;  // those that some rank has not left
  std::uint64_t first_number_ = 1;           // of operations_.front()
  std::vector<place> places_;                // (ranks)
  std::string dead_;                         // the reason, if any
};

}  // namespace inlay::inline INLAY_ABI
