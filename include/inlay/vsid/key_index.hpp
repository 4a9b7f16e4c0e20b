#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/prefetch.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace inlay::inline INLAY_ABI {

/// Key → 32-bit number, by open addressing over cache lines: the one hash table of the library.
///
/// It lies under the mapper, the table and the cache. What a look-up costs is the one line that it
/// misses, so a line is what it is made of: five narrow keys, their numbers, and how many keys that
/// belong here had to go on to the next line. While that is none, a key that isn't in its line
/// isn't anywhere. The batched calls hash keys ahead, ask for their lines, and only then look. Any
/// key is legal: a line counts only if it bears the stamp of the day, and `clear` is a new day,
/// which costs nothing. A home is hash times size, so the size need not be a power of two: a large
/// index grows by a quarter, copying in the order of hashes, and 1/2 to 5/8 of it is taken.
template <class Key>
class key_index {
 public:
  /// What a key that is not here has for a number.
  static constexpr std::uint32_t absent = ~std::uint32_t{0};

  /// A key's number, and whether it was given just now.
  struct found_or_new {
    std::uint32_t number;  ///< of the key
    bool is_new;           ///< nobody had inserted the key before
  };

  /// How many keys have a number.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  /// Bytes of all places, taken or not.
  [[nodiscard]] std::size_t bytes() const noexcept { return lines_.capacity_bytes(); }

  /// The number of `key`, or `absent`.
  [[nodiscard]] std::uint32_t find(Key key) const noexcept {
    return lines_.empty() ? absent : number_of(key, home(key));
  }

  /// The number of `key`; where it has none it gets `number`. May grow the index: then nothing has
  /// changed if memory runs out.
  found_or_new find_or_insert(Key key, std::uint32_t number) {
    reserve(size_ + 1);
    auto const at = home(key);
    if (auto const known = number_of(key, at); known != absent) return {known, false};
    insert(key, at, number);
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
    in_flight<64>(keys, [&](std::size_t i, std::size_t at) { visit(i, number_of(keys[i], at)); });
  }

  /// Calls visit(i, number, is_new) for every key, in order; a key without a number gets the value
  /// of `next()`. An exception out of `next` or `visit` leaves the keys before it in the index.
  template <class Next, class Visit>
  void find_or_insert_each(span<Key const> keys, Next&& next, Visit&& visit) {
    for (std::size_t first = 0; first < keys.size(); first += group) {
      auto const part = keys.subspan(first, std::min(group, keys.size() - first));
      reserve(size_ + part.size());
      in_flight<32>(part, [&](std::size_t i, std::size_t at) {
        if (auto const known = number_of(part[i], at); known != absent) {
          visit(first + i, known, false);
        } else {
          auto const number = next();
          insert(part[i], at, number);
          visit(first + i, number, true);
        }
      });
    }
  }

  /// Forgets `key`; false when it was not there.
  bool erase(Key key) noexcept { return !lines_.empty() && erase(key, home(key)); }

  /// Forgets all of these keys.
  void erase_each(span<Key const> keys) noexcept {
    if (lines_.empty()) return;
    in_flight<32>(keys, [&](std::size_t i, std::size_t at) { erase(keys[i], at); });
  }

  /// Forgets all keys and keeps the memory.
  void clear() noexcept {
    size_ = 0;
    if (++stamp_ == 0) {
      std::fill(lines_.begin(), lines_.end(), line{});
      stamp_ = 1;
    }
  }

  /// Makes room for `count` keys in all. On failure the index is as before.
  void reserve(std::size_t count) {
    if (count * 8 <= lines_.size() * line::places * 5 && count < absent) {
      return;
    }
    expects(count < absent, "an index numbers at most 2^32 - 2 keys");
    auto const now = lines_.size();
    auto const grown = now < large ? 2 * now : now + now / 4;
    buffer<line> larger;
    larger.assign(std::max({std::size_t{4}, grown, count * 8 / (5 * line::places) + 1}), line{});
    std::swap(lines_, larger);
    size_ = 0;
    auto const old_stamp = std::exchange(stamp_, std::uint16_t{1});
    for (auto const& old : larger) {
      for (std::size_t place = 0; old.stamp == old_stamp && place < old.taken(); ++place) {
        insert(old.keys[place], home(old.keys[place]), old.numbers[place]);
      }
    }
  }

  /// Calls visit(key, number) for every entry, in an order without meaning.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (auto const& one : lines_) {
      for (std::size_t place = 0; one.stamp == stamp_ && place < one.taken(); ++place) {
        visit(one.keys[place], one.numbers[place]);
      }
    }
  }

 private:
  static constexpr std::size_t group = 1024;                   // keys between two looks at the fill
  static constexpr std::size_t large = std::size_t{1} << 14U;  // lines: it doubles below

  /// A cache line.
  struct alignas(64) line {
    static constexpr unsigned places = (64 - 4) / (sizeof(Key) + 4);
    static constexpr unsigned one_passed_by = 8;
    static constexpr unsigned most_passed_by = 0xffff - 7;

    Key keys[places]{};
    std::uint32_t numbers[places]{};
    std::uint16_t stamp = 0;  // never a day's
    // Below 8 the places taken, first to last; above how many keys have passed by, for want of
    // room, on the way from their home. Too many to count are never counted down again.
    std::uint16_t state = 0;

    [[nodiscard]] unsigned taken() const noexcept { return state % 8U; }
    [[nodiscard]] bool was_passed_by() const noexcept { return state >= one_passed_by; }
    void pass_by() noexcept {
      if (state < most_passed_by) state = static_cast<std::uint16_t>(state + one_passed_by);
    }
    void pass_back() noexcept {
      if (state < most_passed_by) state = static_cast<std::uint16_t>(state - one_passed_by);
    }

    /// The place of a key, or `places`. No branch: which of them it is can't be foretold.
    [[nodiscard]] unsigned place_of(Key key) const noexcept {
      return static_cast<unsigned>(
          std::countr_zero((equal_to(key) & ((1U << taken()) - 1U)) | 1U << places));
    }
    /// A bit for every place that holds this key, taken or not.
    [[nodiscard]] unsigned equal_to(Key key) const noexcept {
#if defined(__AVX512F__)
      if constexpr (sizeof(Key) == 8) {
        auto const wanted = _mm512_set1_epi64(std::bit_cast<std::int64_t>(key));
        return _mm512_cmpeq_epi64_mask(_mm512_load_si512(this), wanted);
      }
#endif
      unsigned equal = 0;
      for (unsigned place = 0; place < places; ++place) {
        equal |= static_cast<unsigned>(keys[place] == key) << place;
      }
      return equal;
    }
  };
  static_assert(sizeof(line) == 64 && line::places < 8);

  [[nodiscard]] std::size_t home(Key key) const noexcept {
    return ((hash(key) >> 32U) * lines_.size()) >> 32U;
  }
  [[nodiscard]] std::size_t after(std::size_t at) const noexcept {
    return at + 1 == lines_.size() ? 0 : at + 1;
  }

  /// Where a key is.
  struct found {
    std::size_t at;  // its line
    unsigned place;  // in it; `places` if the key isn't here
  };

  /// Looks for a key whose home is `at`. If no line says that nobody has passed by, all are seen.
  [[nodiscard]] found look(Key key, std::size_t at) const noexcept {
    for (auto left = lines_.size(); left > 0; --left) {
      auto const& here = lines_[at];
      if (here.stamp != stamp_) break;
      if (auto const place = here.place_of(key); place < line::places) return {at, place};
      if (!here.was_passed_by()) break;
      at = after(at);
    }
    return {at, line::places};
  }

  /// The number of a key whose home is `at`, or `absent`.
  [[nodiscard]] std::uint32_t number_of(Key key, std::size_t at) const noexcept {
    auto const seen = look(key, at);
    return seen.place < line::places ? lines_[seen.at].numbers[seen.place] : absent;
  }

  /// Adds a key that isn't here and whose home is `at`; there is room.
  void insert(Key key, std::size_t at, std::uint32_t number) noexcept {
    for (;; at = after(at)) {
      auto& here = lines_[at];
      if (here.stamp != stamp_) {
        here.stamp = stamp_;
        here.state = 0;
      }
      if (auto const place = here.taken(); place < line::places) {
        here.keys[place] = key;
        here.numbers[place] = number;
        ++here.state;
        ++size_;
        return;
      }
      here.pass_by();
    }
  }

  bool erase(Key key, std::size_t home) noexcept {
    auto const [at, place] = look(key, home);
    if (place == line::places) return false;
    auto& here = lines_[at];
    auto const last = here.taken() - 1;
    here.keys[place] = here.keys[last];
    here.numbers[place] = here.numbers[last];
    --here.state;
    --size_;
    for (; home != at; home = after(home)) {
      lines_[home].pass_back();
    }
    return true;
  }

  /// Calls visit(i, home of keys[i]) in order, each home's line asked for `Ahead` keys before.
  template <std::size_t Ahead, class Visit>
  void in_flight(span<Key const> keys, Visit&& visit) const {
    std::size_t homes[Ahead];
    auto const fetch = [&](std::size_t i) {
      homes[i % Ahead] = home(keys[i]);
      prefetch_line(lines_.data() + homes[i % Ahead]);
    };
    for (std::size_t i = 0; i < std::min(Ahead, keys.size()); ++i) {
      fetch(i);
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      auto const at = homes[i % Ahead];
      if (i + Ahead < keys.size()) {
        fetch(i + Ahead);
      }
      visit(i, at);
    }
  }

  buffer<line> lines_;
  std::uint16_t stamp_ = 1;
  std::size_t size_ = 0;
};

}  // namespace inlay::inline INLAY_ABI
