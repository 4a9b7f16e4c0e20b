#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Key → 32-bit number, by open addressing with linear probing: the one hash table of the library.
///
/// It lies under the mapper, the table and the cache. What a look-up costs is the one cache line
/// that it misses, so the batched calls hash a group of keys ahead, start loading their lines, and
/// only then probe. Any key is legal: an empty place is marked by its number. At most 5/8 of the
/// places are used.
template <class Key>
class key_index {
 public:
  static constexpr std::uint32_t absent = ~std::uint32_t{0};

  struct found_or_new {
    std::uint32_t number;
    bool is_new;
  };

  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return places_.capacity_bytes(); }

  /// The number of `key`, or `absent`.
  [[nodiscard]] std::uint32_t find(Key key) const noexcept {
    return places_.empty() ? absent : places_[probe(key, home(hash(key)))].number;
  }

  /// The number of `key`; where it has none it gets `number`. May grow the index: then nothing has
  /// changed if memory runs out.
  found_or_new find_or_insert(Key key, std::uint32_t number) {
    reserve(size_ + 1);
    return settle(key, probe(key, home(hash(key))), number);
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
    in_flight(keys, [&](std::size_t i, std::size_t place) {
      visit(i, places_[probe(keys[i], place)].number);
    });
  }

  /// Calls visit(i, number, is_new) for every key, in order; a key without a number gets the value
  /// of `next()`. An exception out of `next` or `visit` leaves the keys before it in the index.
  template <class Next, class Visit>
  void find_or_insert_each(span<Key const> keys, Next&& next, Visit&& visit) {
    for (std::size_t first = 0; first < keys.size(); first += group) {
      auto const part = keys.subspan(first, std::min(group, keys.size() - first));
      reserve(size_ + part.size());
      in_flight(part, [&](std::size_t i, std::size_t place) {
        auto const at = probe(part[i], place);
        if (places_[at].number != absent) {
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
    auto gap = probe(key, home(hash(key)));
    if (places_[gap].number == absent) {
      return false;
    }
    for (auto at = after(gap); places_[at].number != absent; at = after(at)) {
      auto const wanted = home(hash(places_[at].key));
      // The entry may fill the gap only if its home does not lie behind the gap, seen cyclically.
      if (((at - wanted) & mask_) >= ((at - gap) & mask_)) {
        places_[gap] = places_[at];
        gap = at;
      }
    }
    places_[gap].number = absent;
    --size_;
    return true;
  }

  /// Forgets all keys and keeps the memory.
  void clear() noexcept {
    if (size_ != 0) {
      std::fill(places_.begin(), places_.end(), place_type{});
      size_ = 0;
    }
  }

  /// Makes room for `count` keys in all. On failure the index is as before.
  void reserve(std::size_t count) {
    if (count * 8 <= places_.size() * 5 && count < absent) {
      return;
    }
    expects(count < absent, "an index numbers at most 2^32 - 2 keys");
    auto const capacity = std::bit_ceil(std::max<std::size_t>(16, count * 8 / 5 + 1));
    buffer<place_type> larger;
    larger.assign(capacity, place_type{});
    std::swap(places_, larger);
    mask_ = capacity - 1;
    shift_ = 64U - static_cast<unsigned>(std::countr_zero(capacity));
    for (auto const& entry : larger) {
      if (entry.number != absent) {
        places_[probe(entry.key, home(hash(entry.key)))] = entry;
      }
    }
  }

  /// Calls visit(key, number) for every entry, in an order without meaning.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (auto const& entry : places_) {
      if (entry.number != absent) {
        visit(entry.key, entry.number);
      }
    }
  }

 private:
  static constexpr std::size_t group = 1024;  // keys between two looks at the fill
  static constexpr std::size_t ahead = 16;    // cache lines on their way at once

  struct place_type {
    Key key{};
    std::uint32_t number = absent;
  };

  [[nodiscard]] std::size_t home(std::uint64_t hashed) const noexcept { return hashed >> shift_; }
  [[nodiscard]] std::size_t after(std::size_t at) const noexcept { return (at + 1) & mask_; }

  /// The place of `key`, or the empty one where it belongs.
  [[nodiscard]] std::size_t probe(Key key, std::size_t at) const noexcept {
    while (places_[at].number != absent && !(places_[at].key == key)) {
      at = after(at);
    }
    return at;
  }

  found_or_new settle(Key key, std::size_t at, std::uint32_t number) noexcept {
    if (places_[at].number != absent) {
      return {places_[at].number, false};
    }
    places_[at] = {key, number};
    ++size_;
    return {number, true};
  }

  /// Calls visit(i, home of keys[i]) in order, each home's cache line asked for `ahead` keys
  /// before.
  template <class Visit>
  void in_flight(span<Key const> keys, Visit&& visit) const {
    std::size_t homes[ahead];
    auto const fetch = [&](std::size_t i) {
      homes[i % ahead] = home(hash(keys[i]));
      __builtin_prefetch(places_.data() + homes[i % ahead]);
    };
    for (std::size_t i = 0; i < std::min(ahead, keys.size()); ++i) {
      fetch(i);
    }
    for (std::size_t i = 0; i < keys.size(); ++i) {
      auto const place = homes[i % ahead];
      if (i + ahead < keys.size()) {
        fetch(i + ahead);
      }
      visit(i, place);
    }
  }

  buffer<place_type> places_;
  std::size_t mask_ = 0;
  unsigned shift_ = 63;
  std::size_t size_ = 0;
};

}  // namespace inlay::inline INLAY_ABI
