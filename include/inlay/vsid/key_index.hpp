#pragma once

#include <inlay/core/error.hpp>
#include <inlay/vsid/key_lines.hpp>
#include <inlay/vsid/settle_by_home.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// Key → 32-bit number, by open addressing over cache lines: the one hash table of the library.
///
/// It lies under the mapper, the table and the cache. What a look-up costs is the one line that it
/// misses, so a line is what it is made of, see `key_line`. The batched calls hash keys ahead, ask
/// for their lines, and only then look. A large index grows by a quarter, and 1/2 to 5/8 of it is
/// taken. No call pays for that alone: its keys move in the order of hashes, some with every call
/// that may insert, and a key is in the new lines if its hash is below the one where the move is.
template <class Key>
class key_index {
 public:
  /// What a key that is not here has for a number.
  static constexpr std::uint32_t absent = key_lines<Key>::absent;

  /// A key's number, and whether it was given just now.
  struct found_or_new {
    std::uint32_t number;  ///< of the key
    bool is_new;           ///< nobody had inserted the key before
  };

  key_index() = default;
  /// Takes the other's keys and leaves it empty.
  key_index(key_index&& other) noexcept
      : lines_(std::move(other.lines_)),
        old_(std::move(other.old_)),
        next_(std::exchange(other.next_, 0)),
        moved_(std::exchange(other.moved_, all_moved)),
        size_(std::exchange(other.size_, 0)) {}
  /// Takes the other's keys and leaves it empty.
  key_index& operator=(key_index&& other) noexcept {
    lines_ = std::move(other.lines_);
    old_ = std::move(other.old_);
    next_ = std::exchange(other.next_, 0);
    moved_ = std::exchange(other.moved_, all_moved);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  /// How many keys have a number.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Bytes of all places, taken or not, and of those whose keys are still to move.
  [[nodiscard]] std::size_t bytes() const noexcept { return lines_.bytes() + old_.bytes(); }

  /// The number of `key`, or `absent`.
  [[nodiscard]] std::uint32_t find(Key key) const noexcept {
    if (lines_.empty()) return absent;
    auto const bits = bits_of(key);
    auto const& lines = holder(*this, bits);
    return lines.number_of(key, lines.home(bits));
  }

  /// The number of `key`; where it has none it gets `number`, which must not be `absent`. May grow
  /// the index: then nothing has changed if memory runs out.
  found_or_new find_or_insert(Key key, std::uint32_t number) {
    reserve(size_ + 1);
    move_on(lines_a_key);
    auto const bits = bits_of(key);
    auto& lines = holder(*this, bits);
    auto const at = lines.home(bits);
    if (auto const known = lines.number_of(key, at); known != absent) return {known, false};
    lines.insert(key, at, number);
    ++size_;
    return {number, true};
  }

  /// Calls visit(i, number or absent) for every key, in order.
  template <class Visit>
  void find_each(span<Key const> keys, Visit&& visit) const {
    if (lines_.empty()) {
      for (std::size_t i = 0; i < keys.size(); ++i) {
        visit(i, absent);
      }
      return;
    }
    if (is_moving()) {
      in_flight<64>(*this, keys, [&](std::size_t i, auto const& lines, std::size_t at) {
        visit(i, lines.number_of(keys[i], at));
      });
      return;
    }
    // As `in_flight`, but written here: g++ makes it part of the caller, and of a look-up that is
    // all there is, the call's detours are a quarter.
    constexpr std::size_t ahead = 64;
    std::size_t homes[ahead];
    auto const fetch = [&](std::size_t i) {
      homes[i % ahead] = lines_.home(bits_of(keys[i]));
      lines_.prefetch(homes[i % ahead]);
    };
    for (std::size_t i = 0; i < std::min(ahead, keys.size()); ++i) {
      fetch(i);
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      auto const at = homes[i % ahead];
      if (i + ahead < keys.size()) {
        fetch(i + ahead);
      }
      visit(i, lines_.number_of(keys[i], at));
    }
  }

  /// Calls visit(i, number, is_new) for every key, in order; a key without a number gets the value
  /// of `next()`. An exception out of `next` or `visit` leaves the keys before it in the index.
  template <class Next, class Visit>
  void find_or_insert_each(span<Key const> keys, Next&& next, Visit&& visit) {
    move_on(lines_a_call);
    for (std::size_t first = 0; first < keys.size(); first += group) {
      auto const part = keys.subspan(first, std::min(group, keys.size() - first));
      reserve(size_ + part.size());
      move_on(lines_a_key * part.size());
      in_flight<32>(*this, part, [&](std::size_t i, auto& lines, std::size_t at) {
        if (auto const known = lines.number_of(part[i], at); known != absent) {
          visit(first + i, known, false);
        } else {
          auto const number = next();
          lines.insert(part[i], at, number);
          ++size_;
          visit(first + i, number, true);
        }
      });
    }
  }

  /// Forgets `key`; false when it was not there.
  bool erase(Key key) noexcept {
    if (lines_.empty()) return false;
    auto const bits = bits_of(key);
    auto& lines = holder(*this, bits);
    return erase(key, lines, lines.home(bits));
  }

  /// Gives keys that are not here number_of(i) each; threads share the work. Needs no memory if
  /// room for them was reserved.
  template <class NumberOf>
  void insert_each(host_exec const& exec, span<Key const> keys, NumberOf const& number_of) {
    reserve(size_ + keys.size());
    settle_each(
        exec, keys,
        [&](std::size_t i, std::size_t home, std::size_t end) {
          return lines_.insert_before(end, keys[i], home, number_of(i));
        },
        [&](std::size_t i, auto& lines, std::size_t home) {
          lines.insert(keys[i], home, number_of(i));
        });
    size_ += keys.size();
  }

  /// Forgets keys, all of which are here; threads share the work.
  void erase_each(host_exec const& exec, span<Key const> keys) {
    settle_each(
        exec, keys,
        [&](std::size_t i, std::size_t home, std::size_t end) {
          return lines_.erase_before(end, keys[i], home);
        },
        [&](std::size_t i, auto& lines, std::size_t home) { lines.erase(keys[i], home); });
    size_ -= keys.size();
  }

  /// Forgets all keys and keeps the memory.
  void clear() noexcept {
    end_move();
    lines_.clear();
    size_ = 0;
  }

  /// Makes room for `count` keys in all. On failure the index is as before.
  void reserve(std::size_t count) {
    if (count * 8 <= lines_.size() * places * 5 && count < absent) {
      return;
    }
    expects(count < absent, "an index numbers at most 2^32 - 2 keys");
    move_on(old_.size());
    auto const now = lines_.size();
    auto const grown = now < large ? 2 * now : now + now / 4;
    auto const needed = std::max(std::size_t{4}, count * 8 / (5 * places) + 1);
    key_lines<Key> larger(std::max(grown, needed));
    old_ = std::exchange(lines_, std::move(larger));
    next_ = 0;
    moved_ = 0;
    if (now == 0) end_move();
    if (now < large || needed > grown) move_on(now);
  }

  /// Calls visit(key, number) for every entry, in an order without meaning.
  template <class Visit>
  void for_each(Visit&& visit) const {
    lines_.for_each(visit);
    old_.for_each([&](Key key, std::uint32_t number) {
      if (bits_of(key) >= moved_) visit(key, number);
    });
  }

 private:
  static constexpr std::size_t places = key_line<Key>::places;
  static constexpr std::size_t group = 1024;                   // keys between two looks at the fill
  static constexpr std::size_t large = std::size_t{1} << 14U;  // lines: below, it doubles at once
  // How far a move goes. A line holds about 25/8 keys, so a move that goes eight lines a new key is
  // over when the index has grown by a twenty-fifth, and the old lines never get crowded.
  static constexpr std::size_t lines_a_key = 8;
  static constexpr std::size_t lines_a_call = 4096;   // so that it ends where all keys are known
  static constexpr std::size_t lines_at_once = 1024;  // made and filled while they are in the cache
  static constexpr std::uint64_t all_moved = std::uint64_t{1} << 32U;

  /// Of a hash the bits that say where its home is.
  [[nodiscard]] static std::uint64_t bits_of(Key key) noexcept { return hash(key) >> 32U; }
  [[nodiscard]] bool is_moving() const noexcept { return !old_.empty(); }

  /// The lines that keys with these bits are in.
  template <class Index>
  [[nodiscard]] static auto& holder(Index& index, std::uint64_t bits) noexcept {
    return bits < index.moved_ ? index.lines_ : index.old_;
  }

  bool erase(Key key, key_lines<Key>& lines, std::size_t home) noexcept {
    auto const erased = lines.erase(key, home);
    size_ -= erased ? 1U : 0U;
    return erased;
  }

  /// Moves the keys of the next so many old lines, if there are any.
  void move_on(std::size_t lines) noexcept {
    while (is_moving() && lines > 0) {
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

  /// For each key one(i, lines, its home in them), or try_one as in `settle_by_home`.
  template <class TryOne, class One>
  void settle_each(host_exec const& exec, span<Key const> keys, TryOne const& try_one,
                   One const& one) {
    constexpr std::size_t worth_sharing = 4096;
    if (exec.threads() == 1 || keys.size() < worth_sharing || is_moving()) {
      in_flight<32>(*this, keys, one);
      return;
    }
    settle_by_home(
        exec, lines_.size(), keys.size(),
        [&](std::size_t i) { return lines_.home(bits_of(keys[i])); },
        [&](std::size_t home) { lines_.prefetch(home); }, try_one,
        [&](std::size_t i, std::size_t home) { one(i, lines_, home); });
  }

  /// Calls visit(i, lines, home of keys[i] in them) in order, each home asked for `Ahead` keys
  /// before. Without a move the lines are known at once, which a look-up notices.
  template <std::size_t Ahead, class Index, class Visit>
  static void in_flight(Index& index, span<Key const> keys, Visit&& visit) {
    if (!index.is_moving()) {
      auto& lines = index.lines_;
      homes_ahead<Ahead>(
          keys,
          [&](Key key) {
            auto const home = lines.home(bits_of(key));
            lines.prefetch(home);
            return home;
          },
          [&](std::size_t i, std::size_t home) { visit(i, lines, home); });
      return;
    }
    homes_ahead<Ahead>(
        keys,
        [&](Key key) {
          auto const bits = bits_of(key);
          auto& lines = holder(index, bits);
          lines.prefetch(lines.home(bits));
          return std::pair(&lines, lines.home(bits));
        },
        [&](std::size_t i, auto const& home) { visit(i, *home.first, home.second); });
  }

  /// Calls visit(i, what home_of(keys[i]) has returned `Ahead` keys before) in order.
  template <std::size_t Ahead, class HomeOf, class Visit>
  static void homes_ahead(span<Key const> keys, HomeOf&& home_of, Visit&& visit) {
    decltype(home_of(keys[0])) homes[Ahead];
    for (std::size_t i = 0; i < std::min(Ahead, keys.size()); ++i) {
      homes[i] = home_of(keys[i]);
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      auto const home = homes[i % Ahead];
      if (i + Ahead < keys.size()) {
        homes[i % Ahead] = home_of(keys[i + Ahead]);
      }
      visit(i, home);
    }
  }

  key_lines<Key> lines_;
  key_lines<Key> old_;               // while keys move out of them
  std::size_t next_ = 0;             // of the old lines: keys that belong there move next
  std::uint64_t moved_ = all_moved;  // the keys of fewer bits are in `lines_`, the others in `old_`
  std::size_t size_ = 0;
};

}  // namespace inlay::inline INLAY_ABI
