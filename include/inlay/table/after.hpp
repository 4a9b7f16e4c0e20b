#pragma once

#include <inlay/core/error.hpp>
#include <inlay/table/admission.hpp>
#include <inlay/vsid/key_index.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// A key gets a row in the step in which it has occurred `uses` times, that step included. Counts
/// are exact, and forgotten with the admission.
///
/// A key that is counted costs 20 to 26 bytes (narrow keys; wide ones 34 to 43), twice that while
/// the index grows. Of those that never come back there are most, so memory is bounded: counts lie
/// in two generations of half of `most_counted` keys, and a key that is asked for moves to the
/// young one. When that is full, all counts left in the old one are dropped and it becomes the old
/// one. So a key is only dropped when half of `most_counted` others have occurred since it did; it
/// then begins anew. `dropped()` says how many; as long as it says zero, the answers are the same
/// for any number of ranks.
///
/// Wins where most keys occur once or twice. Loses what is learnt from the first `uses - 1`
/// occurrences of every key. If memory runs out, the count of the key that was asked for is lost.
struct after {
  static constexpr char const* name = "after";

  std::uint32_t uses = 3;                  ///< occurrences, the one that admits included
  std::uint32_t most_counted = 1U << 24U;  ///< keys counted at once; at least 2

  void check() const {
    expects(uses > 0, "a key is admitted after one use at the earliest: uses must not be zero");
    expects(most_counted >= 2, "most_counted must be at least 2, for half of it is one generation");
  }

  template <class Key>
  class state {
   public:
    /// Of no key yet.
    explicit state(after const& part) : uses_(part.uses), most_young_(part.most_counted / 2) {
      part.check();
    }

    void prepare(span<Key const> keys) const noexcept {
      constexpr auto only_fetch = [](std::size_t, std::uint32_t) {};
      young_.find_each(keys, only_fetch);
      old_.find_each(keys, only_fetch);
    }

    [[nodiscard]] bool admit(Key key, std::uint32_t count, step_id) {
      auto before = take(young_, key);
      if (before == 0) before = take(old_, key);
      auto const now = std::uint64_t{before} + count;
      if (now >= uses_) return true;
      if (young_.size() == most_young_) drop_old();
      (void)young_.find_or_insert(key, static_cast<std::uint32_t>(now));
      return false;
    }

    /// How many keys are counted.
    [[nodiscard]] std::size_t counted() const noexcept { return young_.size() + old_.size(); }
    [[nodiscard]] std::size_t bytes() const noexcept { return young_.bytes() + old_.bytes(); }
    [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

   private:
    using counts = key_index<Key>;  // the number of a key is its count

    [[nodiscard]] static std::uint32_t take(counts& from, Key key) noexcept {
      auto const count = from.find(key);
      if (count == counts::absent) return 0;
      from.erase(key);
      return count;
    }

    void drop_old() noexcept {
      dropped_ += old_.size();
      old_.clear();
      std::swap(young_, old_);
    }

    std::uint32_t uses_;
    std::size_t most_young_;
    counts young_;
    counts old_;
    std::uint64_t dropped_ = 0;
  };
};

static_assert(admission<after>);

}  // namespace inlay::inline INLAY_ABI
