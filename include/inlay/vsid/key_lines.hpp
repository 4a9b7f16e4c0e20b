#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/prefetch.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

namespace inlay::inline INLAY_ABI {

/// A cache line of keys and their numbers: five narrow ones, and how many keys that belong here had
/// to go on to the next line. While that is none, a key that isn't in its line isn't anywhere.
template <class Key>
struct alignas(64) key_line {
  static constexpr unsigned places = (64 - 4) / (sizeof(Key) + 4);  ///< for keys
  static constexpr unsigned one_passed_by = 8;                      ///< in `state`
  static constexpr unsigned most_passed_by = 0xffff - 7;            ///< that `state` can count

  Key keys[places]{};               ///< those behind the taken ones mean nothing
  std::uint32_t numbers[places]{};  ///< of the keys
  std::uint16_t stamp = 0;          ///< the day on which the line counts; 0 is never one
  /// Below 8 the places taken, first to last; above how many keys have passed by, for want of room,
  /// on the way from their home. Too many to count are never counted down again.
  std::uint16_t state = 0;

  /// How many places are taken.
  [[nodiscard]] unsigned taken() const noexcept { return state % 8U; }
  /// True if a key whose home this is, or was on the way, may be in a later line.
  [[nodiscard]] bool was_passed_by() const noexcept { return state >= one_passed_by; }
  /// Counts one more key that went on.
  void pass_by() noexcept {
    if (state < most_passed_by) state = static_cast<std::uint16_t>(state + one_passed_by);
  }
  /// Counts one less.
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

/// Key → number by open addressing over so many cache lines, no more and no less: what `key_index`
/// grows by taking a larger one.
///
/// A home is hash times size, so the size need not be a power of two, and homes are in the order of
/// hashes. Any key is legal: a line counts only if it bears the stamp of the day, and `clear` is a
/// new day, which costs nothing. Lines are made when they are asked for, from the first on.
template <class Key>
class key_lines {
 public:
  /// What it is made of.
  using line = key_line<Key>;
  static_assert(sizeof(line) == 64 && line::places < 8);

  /// What a key that is not here has for a number.
  static constexpr std::uint32_t absent = ~std::uint32_t{0};

  key_lines() = default;
  /// Takes the other's lines and leaves it without.
  key_lines(key_lines&& other) noexcept
      : lines_(std::move(other.lines_)),
        made_(std::exchange(other.made_, 0)),
        stamp_(other.stamp_) {}
  /// Takes the other's lines and leaves it without.
  key_lines& operator=(key_lines&& other) noexcept {
    lines_ = std::move(other.lines_);
    made_ = std::exchange(other.made_, 0);
    stamp_ = other.stamp_;
    return *this;
  }
  /// Room for so many lines, none of them made.
  explicit key_lines(std::size_t size) : lines_(size) {}

  /// How many lines there are, made or not.
  [[nodiscard]] std::size_t size() const noexcept { return lines_.size(); }
  /// True without a line.
  [[nodiscard]] bool empty() const noexcept { return lines_.empty(); }
  /// Bytes of all lines.
  [[nodiscard]] std::size_t bytes() const noexcept { return lines_.capacity_bytes(); }

  /// Makes all lines below `until`.
  void make(std::size_t until) noexcept {
    for (; made_ < until; ++made_) {
      lines_[made_] = line{};
    }
  }

  /// Forgets all keys. All lines must have been made.
  void clear() noexcept {
    if (++stamp_ == 0) {
      std::fill(lines_.begin(), lines_.end(), line{});
      stamp_ = 1;
    }
  }

  /// The line where a key belongs whose hash has these upper 32 bits.
  [[nodiscard]] std::size_t home(std::uint64_t bits) const noexcept {
    return (bits * lines_.size()) >> 32U;
  }
  /// The fewest upper 32 bits of a hash whose home is this line.
  [[nodiscard]] std::uint64_t first_bits(std::size_t at) const noexcept {
    return ((std::uint64_t{at} << 32U) + lines_.size() - 1) / lines_.size();
  }
  /// Asks for a line.
  void prefetch(std::size_t at) const noexcept { prefetch_line(lines_.data() + at); }

  /// The number of a key whose home is `at`, or `absent`.
  [[nodiscard]] std::uint32_t number_of(Key key, std::size_t at) const noexcept {
    auto const seen = look(key, at);
    return seen.place < line::places ? lines_[seen.at].numbers[seen.place] : absent;
  }

  /// Adds a key that isn't here and whose home is `at`; there is room.
  void insert(Key key, std::size_t at, std::uint32_t number) noexcept {
    for (;;) {
      auto& here = lines_[at];
      if (here.stamp != stamp_) {
        here.stamp = stamp_;
        here.state = 0;
      }
      if (auto const place = here.taken(); place < line::places) {
        here.keys[place] = key;
        here.numbers[place] = number;
        ++here.state;
        return;
      }
      here.pass_by();
      at = after(at);
      make(at + 1);
    }
  }

  /// Forgets a key whose home is `home`; false when it was not there.
  bool erase(Key key, std::size_t home) noexcept {
    auto const [at, place] = look(key, home);
    if (place == line::places) return false;
    auto& here = lines_[at];
    auto const last = here.taken() - 1;
    here.keys[place] = here.keys[last];
    here.numbers[place] = here.numbers[last];
    --here.state;
    for (; home != at; home = after(home)) {
      lines_[home].pass_back();
    }
    return true;
  }

  /// The same as `insert` if all that takes lies below the line `end`; else false, nothing done.
  bool insert_before(std::size_t end, Key key, std::size_t at, std::uint32_t number) noexcept {
    auto to = at;
    while (lines_[to].stamp == stamp_ && lines_[to].taken() == line::places) {
      if (++to == end) return false;
    }
    insert(key, at, number);
    return true;
  }

  /// The same as `erase` if all that takes lies below the line `end`; else false, nothing done.
  bool erase_before(std::size_t end, Key key, std::size_t home) noexcept {
    for (auto at = home; lines_[at].stamp == stamp_;) {
      if (lines_[at].place_of(key) < line::places || !lines_[at].was_passed_by()) break;
      if (++at == end) return false;
    }
    erase(key, home);
    return true;
  }

  /// Calls visit(key, number) for every key, in an order without meaning.
  template <class Visit>
  void for_each(Visit&& visit) const {
    for (std::size_t at = 0; at < made_; ++at) {
      visit_line(lines_[at], visit);
    }
  }

  /// Calls visit(key, number) for every key in the lines where those of this home may be.
  template <class Visit>
  void for_each_near(std::size_t home, Visit&& visit) const {
    for (auto left = lines_.size(); left > 0; --left) {
      visit_line(lines_[home], visit);
      if (lines_[home].stamp != stamp_ || !lines_[home].was_passed_by()) return;
      home = after(home);
    }
  }

 private:
  [[nodiscard]] std::size_t after(std::size_t at) const noexcept {
    return at + 1 == lines_.size() ? 0 : at + 1;
  }

  template <class Visit>
  void visit_line(line const& one, Visit& visit) const {
    for (std::size_t place = 0; one.stamp == stamp_ && place < one.taken(); ++place) {
      visit(one.keys[place], one.numbers[place]);
    }
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

  buffer<line> lines_;
  std::size_t made_ = 0;  // lines that are not made hold unspecified bits
  std::uint16_t stamp_ = 1;
};

}  // namespace inlay::inline INLAY_ABI
