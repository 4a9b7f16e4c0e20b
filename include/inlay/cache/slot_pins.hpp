#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/ids.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// Whether any step pins a slot. Named, and fit for devices, as the policies that ask are: nvcc
/// warns where they call what is the host's alone.
struct pinned_slots {
  std::uint64_t const* const* sets = nullptr;  // (count), each a bit for each slot
  std::size_t count = 0;                       ///< of the sets

  /// Whether it is in one of the sets.
  [[nodiscard]] INLAY_HD bool operator()(slot_id slot) const noexcept {
    std::uint64_t word = 0;
    for (std::size_t set = 0; set < count; ++set) {
      word |= sets[set][slot / 64];
    }
    return (word >> (slot % 64) & 1U) != 0;
  }
};

/// Which slots steps in flight use: a bit for each slot, in a set of its own for each step. Ten
/// million slots take 1.2 MiB a step, near enough to be asked once for every row.
class slot_pins {
 public:
  /// Names the pins of a step.
  using set_id = std::uint32_t;
  /// No set.
  static constexpr set_id none = ~set_id{0};

  /// None pinned.
  explicit slot_pins(std::size_t slots) : words_((slots + bits - 1) / bits) {}

  /// Slots that are pinned by any step.
  [[nodiscard]] std::size_t size() const noexcept { return pinned_; }
  /// Steps that pin slots.
  [[nodiscard]] std::size_t steps() const noexcept { return sets_.size() - spare_.size(); }
  /// Memory held.
  [[nodiscard]] std::size_t bytes() const noexcept {
    return sets_.size() * words_ * sizeof(std::uint64_t);
  }

  /// For whoever asks often; until the next `reserve`.
  [[nodiscard]] pinned_slots any() const noexcept { return {firsts_.data(), firsts_.size()}; }
  /// Whether any step pins a slot.
  [[nodiscard]] bool operator()(slot_id slot) const noexcept { return any()(slot); }

  /// Calls visit(slot) for every slot that is pinned by any step.
  template <class Visit>
  void for_each(Visit&& visit) const {
    if (pinned_ == 0) return;
    for (std::size_t at = 0; at < words_; ++at) {
      for (auto word = any_word(at); word != 0; word &= word - 1) {
        visit(static_cast<slot_id>(at * bits + static_cast<std::size_t>(std::countr_zero(word))));
      }
    }
  }

  /// Makes sure that the next `open` needs no memory.
  void reserve() {
    if (!spare_.empty()) return;
    buffer<std::uint64_t> set;
    set.assign(words_, 0);
    sets_.reserve(sets_.size() + 1);
    spare_.reserve(sets_.size() + 1);
    firsts_.push_back(set.data());
    sets_.push_back(std::move(set));
    spare_.push_back(static_cast<set_id>(sets_.size() - 1));
  }

  /// An empty set for a step; after `reserve`.
  [[nodiscard]] set_id open() noexcept {
    auto const set = spare_.back();
    spare_.pop_back();
    return set;
  }

  /// Adds a slot to a step's set.
  void pin(set_id set, slot_id slot) noexcept {
    if (!(*this)(slot)) ++pinned_;
    sets_[set][slot / bits] |= std::uint64_t{1} << (slot % bits);
  }

  /// Ends a step's set.
  void close(set_id set) noexcept {
    std::fill(sets_[set].begin(), sets_[set].end(), std::uint64_t{0});
    spare_.push_back(set);
    pinned_ = steps() == 0 ? 0 : count();
  }

 private:
  static constexpr std::size_t bits = 64;

  [[nodiscard]] std::uint64_t any_word(std::size_t at) const noexcept {
    std::uint64_t word = 0;
    for (auto const& set : sets_) {
      word |= set[at];
    }
    return word;
  }

  [[nodiscard]] std::size_t count() const noexcept {
    std::size_t slots = 0;
    for (std::size_t at = 0; at < words_; ++at) {
      slots += static_cast<std::size_t>(std::popcount(any_word(at)));
    }
    return slots;
  }

  std::size_t words_;
  std::vector<buffer<std::uint64_t>> sets_;  // (steps that were ever in flight at once, words)
  buffer<std::uint64_t const*> firsts_;      // (the same), where they begin
  std::vector<set_id> spare_;
  std::size_t pinned_ = 0;
};

}  // namespace inlay::inline INLAY_ABI
