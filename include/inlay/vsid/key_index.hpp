#pragma once

#include <inlay/core/host_exec.hpp>
#include <inlay/vsid/growing_lines.hpp>
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
/// for their lines, and only then look. How it grows is in `growing_lines`.
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
      : lines_(std::move(other.lines_)), size_(std::exchange(other.size_, 0)) {}
  /// Takes the other's keys and leaves it empty.
  key_index& operator=(key_index&& other) noexcept {
    lines_ = std::move(other.lines_);
    size_ = std::exchange(other.size_, 0);
    return *this;
  }

  /// How many keys have a number.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Bytes of all places, taken or not, and of those whose keys are still to move.
  [[nodiscard]] std::size_t bytes() const noexcept { return lines_.bytes(); }

  /// Makes room for `count` keys in all. On failure the index is as before.
  void reserve(std::size_t count) { lines_.reserve(count); }

  /// The number of `key`, or `absent`.
  [[nodiscard]] std::uint32_t find(Key key) const noexcept {
    if (lines_.empty()) return absent;
    auto const bits = bits_of(key);
    auto const& lines = lines_.of(bits);
    return lines.number_of(key, lines.home(bits));
  }

  /// The number of `key`; where it has none it gets `number`, which must not be `absent`. May grow
  /// the index: then nothing has changed if memory runs out.
  found_or_new find_or_insert(Key key, std::uint32_t number) {
    reserve(size_ + 1);
    lines_.move_for(1);
    auto const bits = bits_of(key);
    auto& lines = lines_.of(bits);
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
    if (lines_.are_moving()) {
      in_flight<64>(lines_, keys, [&](std::size_t i, auto const& lines, std::size_t at) {
        visit(i, lines.number_of(keys[i], at));
      });
      return;
    }
    // As `in_flight`, but written here: g++ makes it part of the caller, and of a look-up that is
    // all there is, the call's detours are a quarter.
    constexpr std::size_t ahead = 64;
    std::size_t homes[ahead];
    auto const& lines = lines_.all();
    auto const fetch = [&](std::size_t i) {
      homes[i % ahead] = lines.home(bits_of(keys[i]));
      lines.prefetch(homes[i % ahead]);
    };
    for (std::size_t i = 0; i < std::min(ahead, keys.size()); ++i) {
      fetch(i);
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      auto const at = homes[i % ahead];
      if (i + ahead < keys.size()) {
        fetch(i + ahead);
      }
      visit(i, lines.number_of(keys[i], at));
    }
  }

  /// Calls visit(i, number, is_new) for every key, in order; a key without a number gets the value
  /// of `next()`. An exception out of `next` or `visit` leaves the keys before it in the index.
  template <class Next, class Visit>
  void find_or_insert_each(span<Key const> keys, Next&& next, Visit&& visit) {
    lines_.move_for_call();
    for (std::size_t first = 0; first < keys.size(); first += group) {
      auto const part = keys.subspan(first, std::min(group, keys.size() - first));
      reserve(size_ + part.size());
      lines_.move_for(part.size());
      in_flight<32>(lines_, part, [&](std::size_t i, auto& lines, std::size_t at) {
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

  /// Gives number_of(i) to each of some distinct keys that are not here; threads share the work.
  /// Needs no memory if room for them was reserved.
  template <class NumberOf>
  void insert_each(host_exec const& exec, span<Key const> keys, NumberOf const& number_of) {
    reserve(size_ + keys.size());
    settle_each(
        exec, keys,
        [&](std::size_t i, std::size_t home, std::size_t end) {
          return lines_.all().insert_before(end, keys[i], home, number_of(i));
        },
        [&](std::size_t i, auto& lines, std::size_t home) {
          lines.insert(keys[i], home, number_of(i));
        });
    size_ += keys.size();
  }

  /// Forgets `key`; false when it was not there.
  bool erase(Key key) noexcept {
    if (lines_.empty()) return false;
    auto const bits = bits_of(key);
    auto& lines = lines_.of(bits);
    auto const erased = lines.erase(key, lines.home(bits));
    size_ -= erased ? 1U : 0U;
    return erased;
  }

  /// Forgets some distinct keys, all of which are here; threads share the work.
  void erase_each(host_exec const& exec, span<Key const> keys) {
    settle_each(
        exec, keys,
        [&](std::size_t i, std::size_t home, std::size_t end) {
          return lines_.all().erase_before(end, keys[i], home);
        },
        [&](std::size_t i, auto& lines, std::size_t home) { lines.erase(keys[i], home); });
    size_ -= keys.size();
  }

  /// Forgets all keys and keeps the memory.
  void clear() noexcept {
    lines_.clear();
    size_ = 0;
  }

  /// Calls visit(key, number) for every entry, in an order without meaning.
  template <class Visit>
  void for_each(Visit&& visit) const {
    lines_.for_each(visit);
  }

 private:
  static constexpr std::size_t group = 1024;  // keys between two looks at the fill

  [[nodiscard]] static std::uint64_t bits_of(Key key) noexcept {
    return growing_lines<Key>::bits_of(key);
  }

  /// For each key one(i, lines, its home in them), or try_one as in `settle_by_home`.
  template <class TryOne, class One>
  void settle_each(host_exec const& exec, span<Key const> keys, TryOne const& try_one,
                   One const& one) {
    constexpr std::size_t worth_sharing = 4096;
    lines_.move_for_call();
    if (exec.threads() == 1 || keys.size() < worth_sharing || lines_.are_moving()) {
      for (std::size_t first = 0; first < keys.size(); first += group) {
        auto const part = keys.subspan(first, std::min(group, keys.size() - first));
        lines_.move_for(part.size());  // so that the old lines never get crowded
        in_flight<32>(lines_, part, [&](std::size_t i, auto& lines, std::size_t home) {
          one(first + i, lines, home);
        });
      }
      return;
    }
    auto& lines = lines_.all();
    settle_by_home(
        exec, lines.size(), keys.size(),
        [&](std::size_t i) { return lines.home(bits_of(keys[i])); },
        [&](std::size_t home) { lines.prefetch(home); }, try_one,
        [&](std::size_t i, std::size_t home) { one(i, lines, home); });
  }

  /// Calls visit(i, lines, home of keys[i] in them) in order, each home asked for `Ahead` keys
  /// before. Without a move the lines are known at once, which a look-up notices.
  template <std::size_t Ahead, class Lines, class Visit>
  static void in_flight(Lines& all, span<Key const> keys, Visit&& visit) {
    if (!all.are_moving()) {
      auto& lines = all.all();
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
          auto& lines = all.of(bits);
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

  growing_lines<Key> lines_;
  std::size_t size_ = 0;
};

}  // namespace inlay::inline INLAY_ABI
