#pragma once

#include <inlay/core/error.hpp>
#include <inlay/vsid/key_lines.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// The lines of an index that grows, and no call pays for that alone.
///
/// Many lines grow by a quarter, and 1/2 to 5/8 of their places are taken. The keys move to the new
/// ones in the order of their hashes, some with every call that may insert; a key is in the new
/// lines if its hash is below the one where the move is.
template <class Key>
class growing_lines {
 public:
  /// What it is made of.
  using lines_type = key_lines<Key>;

  growing_lines() = default;
  /// Takes the other's lines and leaves it without.
  growing_lines(growing_lines&& other) noexcept
      : lines_(std::move(other.lines_)),
        old_(std::move(other.old_)),
        next_(std::exchange(other.next_, 0)),
        moved_(std::exchange(other.moved_, all_moved)) {}
  /// Takes the other's lines and leaves it without.
  growing_lines& operator=(growing_lines&& other) noexcept {
    lines_ = std::move(other.lines_);
    old_ = std::move(other.old_);
    next_ = std::exchange(other.next_, 0);
    moved_ = std::exchange(other.moved_, all_moved);
    return *this;
  }

  /// True without a line.
  [[nodiscard]] bool empty() const noexcept { return lines_.empty(); }
  /// True while keys move.
  [[nodiscard]] bool are_moving() const noexcept { return !old_.empty(); }
  /// All lines, if no keys move.
  [[nodiscard]] lines_type& all() noexcept { return lines_; }
  /// All lines, if no keys move.
  [[nodiscard]] lines_type const& all() const noexcept { return lines_; }
  /// Bytes of all lines, those whose keys are still to move included.
  [[nodiscard]] std::size_t bytes() const noexcept { return lines_.bytes() + old_.bytes(); }

  /// The lines that keys are in whose hash has these upper 32 bits.
  [[nodiscard]] lines_type& of(std::uint64_t bits) noexcept {
    return bits < moved_ ? lines_ : old_;
  }
  /// The lines that keys are in whose hash has these upper 32 bits.
  [[nodiscard]] lines_type const& of(std::uint64_t bits) const noexcept {
    return bits < moved_ ? lines_ : old_;
  }

  /// Makes room for `count` keys in all. On failure all is as before.
  void reserve(std::size_t count) {
    constexpr auto most = lines_type::absent;  // its numbers are below
    if (count * 8 <= lines_.size() * places * 5 && count < most) {
      return;
    }
    expects(count < most, "an index numbers at most 2^32 - 2 keys");
    move(old_.size());
    auto const now = lines_.size();
    auto const grown = now < large ? 2 * now : now + now / 4;
    auto const needed = std::max(std::size_t{4}, count * 8 / (5 * places) + 1);
    lines_type larger(std::max(grown, needed));
    old_ = std::exchange(lines_, std::move(larger));
    next_ = 0;
    moved_ = 0;
    if (now == 0) end_move();
    if (now < large || needed > grown) move(now);
  }

  /// What a call owes that may insert so many keys: the move goes on.
  void move_for(std::size_t keys) noexcept { move(lines_a_key * keys); }
  /// What it owes beside, so that a move ends where all keys are known.
  void move_for_call() noexcept { move(lines_a_call); }

  /// Forgets all keys and keeps the memory.
  void clear() noexcept {
    end_move();
    lines_.clear();
  }

  /// Calls visit(key, number) for every key, in an order without meaning.
  template <class Visit>
  void for_each(Visit&& visit) const {
    lines_.for_each(visit);
    old_.for_each([&](Key key, std::uint32_t number) {
      if (bits_of(key) >= moved_) visit(key, number);
    });
  }

  /// Of a hash the bits that say where its home is.
  [[nodiscard]] static std::uint64_t bits_of(Key key) noexcept { return hash(key) >> 32U; }

 private:
  static constexpr std::size_t places = key_line<Key>::places;
  static constexpr std::size_t large = std::size_t{1} << 14U;  // lines: below, it doubles at once
  // How far a move goes. A line holds about 25/8 keys, so a move that goes eight lines a new key is
  // over when the index has grown by a twenty-fifth, and the old lines never get crowded.
  static constexpr std::size_t lines_a_key = 8;
  static constexpr std::size_t lines_a_call = 4096;
  static constexpr std::size_t lines_at_once = 1024;  // made and filled while they are in the cache
  static constexpr std::uint64_t all_moved = std::uint64_t{1} << 32U;

  /// Moves the keys of the next so many old lines, if there are any.
  void move(std::size_t lines) noexcept {
    while (are_moving() && lines > 0) {
      auto const until = next_ + std::min({lines, lines_at_once, old_.size() - next_});
      lines -= until - next_;
      moved_ = until < old_.size() ? old_.first_bits(until) : all_moved;
      lines_.make(lines_.home(moved_ - 1) + 1);
      for (; next_ < until; ++next_) {
        old_.for_each_near(next_, [&](Key key, std::uint32_t number) {
          auto const bits = bits_of(key);
          if (old_.home(bits) == next_) lines_.insert(key, lines_.home(bits), number);
        });
      }
      if (until == old_.size()) end_move();
    }
  }

  void end_move() noexcept {
    lines_.make(lines_.size());
    old_ = {};
    next_ = 0;
    moved_ = all_moved;
  }

  lines_type lines_;
  lines_type old_;                   // while keys move out of them
  std::size_t next_ = 0;             // of the old lines: keys that belong there move next
  std::uint64_t moved_ = all_moved;  // the keys of fewer bits are in `lines_`, the others in `old_`
};

}  // namespace inlay::inline INLAY_ABI
