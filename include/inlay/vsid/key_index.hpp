#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// Key → 32-bit number, by open addressing with linear probing: the one hash table of the library.
///
/// It lies under the mapper, the table and the cache. What a look-up costs is the one cache line
/// that it misses, so the batched calls hash keys ahead, ask for their lines, and only then probe.
/// Any key is legal: a place is taken if it bears the stamp of the day, and `clear` is a new day,
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
  [[nodiscard]] std::size_t bytes() const noexcept { return places_.capacity_bytes(); }

  /// The number of `key`, or `absent`.
  [[nodiscard]] std::uint32_t find(Key key) const noexcept {
    return places_.empty() ? absent : number_at(probe(key, home(key)));
  }

  /// The number of `key`; where it has none it gets `number`. May grow the index: then nothing has
  /// changed if memory runs out.
  found_or_new find_or_insert(Key key, std::uint32_t number) {
    reserve(size_ + 1);
    return settle(key, probe(key, home(key)), number);
  }

  /// Calls visit(i, number or absent) for every key, in order.
  template <class Visit>
  void find_each(span<Key const> keys, Visit&& visit) const {
    if (places_.empty()) {
      for (std::size_t i = 0; i < keys.size(); ++i) {
        visit(i, absent);
      }
      return;
    }
    in_flight<64>(keys, [&](std::size_t i, std::size_t place) {
      visit(i, number_at(probe(keys[i], place)));
    });
  }

  /// Calls visit(i, number, is_new) for every key, in order; a key without a number gets the value
  /// of `next()`. An exception out of `next` or `visit` leaves the keys before it in the index.
  template <class Next, class Visit>
  void find_or_insert_each(span<Key const> keys, Next&& next, Visit&& visit) {
    for (std::size_t first = 0; first < keys.size(); first += group) {
      auto const part = keys.subspan(first, std::min(group, keys.size() - first));
      reserve(size_ + part.size());
      in_flight<32>(part, [&](std::size_t i, std::size_t place) {
        auto const at = probe(part[i], place);
        if (is_taken(at)) {
          visit(first + i, places_[at].number, false);
        } else {
          auto const number = settle(part[i], at, next()).number;
          visit(first + i, number, true);
        }
      });
    }
  }

  /// Forgets `key`; false when it was not there. Later entries move up, so no trace of it stays.
  bool erase(Key key) noexcept {
    if (places_.empty()) {
      return false;
    }
    auto gap = probe(key, home(key));
    if (!is_taken(gap)) {
      return false;
    }
    for (auto at = after(gap); is_taken(at); at = after(at)) {
      // The entry may fill the gap only if its home does not lie behind the gap, seen cyclically.
      if (distance(home(places_[at].key), at) >= distance(gap, at)) {
        places_[gap] = places_[at];
        gap = at;
      }
    }
    places_[gap].stamp = 0;
    --size_;
    return true;
  }

  /// Forgets all keys and keeps the memory.
  void clear() noexcept {
    size_ = 0;
    if (++stamp_ == 0) {
      std::fill(places_.begin(), places_.end(), place_type{});
      stamp_ = 1;
    }
  }

  /// Makes room for `count` keys in all. On failure the index is as before.
  void reserve(std::size_t count) {
    if (count * 8 <= places_.size() * 5 && count < absent) {
      return;
    }
    expects(count < absent, "an index numbers at most 2^32 - 2 keys");
    auto const now = places_.size();
    auto const grown = now < large ? 2 * now : now + now / 4;
    buffer<place_type> larger;
    larger.assign(std::max({std::size_t{16}, grown, count * 8 / 5 + 1}), place_type{});
    std::swap(places_, larger);
    auto const old_stamp = std::exchange(stamp_, 1);
    for (auto const& entry : larger) {
      if (entry.stamp == old_stamp) {
        places_[probe(entry.key, home(entry.key))] = {entry.key, entry.number, stamp_};
      }
    }
  }

  /// Calls visit(key, number) for every entry, in an order without meaning.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (auto const& entry : places_) {
      if (entry.stamp == stamp_) {
        visit(entry.key, entry.number);
      }
    }
  }

 private:
  static constexpr std::size_t group = 1024;                   // keys between two looks at the fill
  static constexpr std::size_t large = std::size_t{1} << 16U;  // places: it doubles below

  struct place_type {
    Key key{};
    std::uint32_t number = 0;
    std::uint32_t stamp = 0;  // never a day's
  };

  [[nodiscard]] std::size_t home(Key key) const noexcept {
    return ((hash(key) >> 32U) * places_.size()) >> 32U;
  }
  [[nodiscard]] std::size_t after(std::size_t at) const noexcept {
    return at + 1 == places_.size() ? 0 : at + 1;
  }
  /// Steps from one place to another, going round.
  [[nodiscard]] std::size_t distance(std::size_t from, std::size_t to) const noexcept {
    return to >= from ? to - from : to + places_.size() - from;
  }

  [[nodiscard]] bool is_taken(std::size_t at) const noexcept { return places_[at].stamp == stamp_; }
  [[nodiscard]] std::uint32_t number_at(std::size_t at) const noexcept {
    return is_taken(at) ? places_[at].number : absent;
  }

  /// The place of `key`, or the free one where it belongs.
  [[nodiscard]] std::size_t probe(Key key, std::size_t at) const noexcept {
    while (is_taken(at) && !(places_[at].key == key)) {
      at = after(at);
    }
    return at;
  }

  found_or_new settle(Key key, std::size_t at, std::uint32_t number) noexcept {
    if (is_taken(at)) {
      return {places_[at].number, false};
    }
    places_[at] = {key, number, stamp_};
    ++size_;
    return {number, true};
  }

  /// Calls visit(i, home of keys[i]) in order, each home's cache line asked for `Ahead` keys
  /// before.
  template <std::size_t Ahead, class Visit>
  void in_flight(span<Key const> keys, Visit&& visit) const {
    std::size_t homes[Ahead];
    auto const fetch = [&](std::size_t i) {
      homes[i % Ahead] = home(keys[i]);
      __builtin_prefetch(places_.data() + homes[i % Ahead]);
    };
    for (std::size_t i = 0; i < std::min(Ahead, keys.size()); ++i) {
      fetch(i);
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      auto const place = homes[i % Ahead];
      if (i + Ahead < keys.size()) {
        fetch(i + Ahead);
      }
      visit(i, place);
    }
  }

  buffer<place_type> places_;
  std::uint32_t stamp_ = 1;
  std::size_t size_ = 0;
};

}  // namespace inlay::inline INLAY_ABI
