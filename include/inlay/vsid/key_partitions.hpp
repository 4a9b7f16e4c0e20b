#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/vsid/id_plan.hpp>
#include <inlay/vsid/key_index.hpp>

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// Numbers the distinct keys of a step side by side: the plan of one index, by many.
///
/// Keys are dealt into parts by their hash, in order, so that a part is one thread's and its index
/// stays near. What a part can't know is how many keys of other parts came first: for that each key
/// leaves a mark where it first appears, and its number is the count of marks before. So the plan
/// depends neither on threads nor on the number of parts.
template <class Key>
class key_partitions {
 public:
  /// keys (n) → plan. Keeps memory between steps.
  void map(host_exec const& exec, span<Key const> keys, id_plan<Key>& plan) {
    deal(exec, keys);
    first_.assign(keys.size() + 8, 0);  // so that marks can be read eight at a time
    exec.for_each(parts_.size(), [&](std::size_t p) { number(p); });
    auto const distinct = count_marks(keys.size());
    plan.unique.resize(distinct);
    plan.counts.resize(distinct);
    plan.offsets.resize(distinct + 1);
    plan.virtual_ids.resize(keys.size());
    plan.occurrences.resize(keys.size());
    exec.for_each(parts_.size(), [&](std::size_t p) { place_unique(parts_[p], plan); });
    plan.offsets[0] = 0;
    for (std::size_t v = 0; v < distinct; ++v) {
      plan.offsets[v + 1] = plan.offsets[v] + plan.counts[v];
    }
    exec.for_each(parts_.size(), [&](std::size_t p) { place_occurrences(parts_[p], plan); });
    for_dealt(exec, keys.size(),
              [&](std::size_t i, std::uint32_t at) { plan.virtual_ids[i] = numbers_[at]; });
  }

 private:
  static constexpr std::size_t most_parts = 256;

  struct part {
    std::size_t first = 0;  // of its keys among the dealt ones
    std::size_t last = 0;
    key_index<Key> numbers;         // key → number within the part
    buffer<Key> unique;             // (distinct of the part), in order of first appearance
    buffer<std::uint32_t> firsts;   // where each first appears
    buffer<std::uint32_t> counts;   // how often; then where its next occurrence goes
    buffer<std::uint32_t> overall;  // its number among all
  };

  /// Calls visit(i, where key i is dealt to) for all keys, side by side; in order within a part.
  template <class Visit>
  void for_dealt(host_exec const& exec, std::size_t keys, Visit const& visit) const {
    exec.for_each(pieces_, [&](std::size_t piece) {
      std::uint32_t cursors[most_parts];
      std::copy_n(starts_.data() + piece * parts_.size(), parts_.size(), cursors);
      auto const* const part_of = part_of_.data();
      for (auto i = piece * grain_; i < std::min((piece + 1) * grain_, keys); ++i) {
        visit(i, cursors[part_of[i]]++);
      }
    });
  }

  /// Deals the keys and their places into parts, in order.
  void deal(host_exec const& exec, span<Key const> keys) {
    constexpr std::size_t keys_a_part = 131072;
    auto const count = std::bit_ceil(std::max(keys.size() / keys_a_part, 4 * exec.threads()));
    parts_.resize(std::min<std::size_t>(count, most_parts));
    pieces_ = exec.threads();
    grain_ = (keys.size() + pieces_ - 1) / pieces_;
    starts_.resize(pieces_ * parts_.size());
    part_of_.resize(keys.size());
    auto const mask = parts_.size() - 1;
    exec.for_each(pieces_, [&](std::size_t piece) {
      std::uint32_t counts[most_parts] = {};
      auto* const part_of = part_of_.data();
      for (auto i = piece * grain_; i < std::min((piece + 1) * grain_, keys.size()); ++i) {
        // Bits below those that choose a key's home.
        part_of[i] = static_cast<std::uint8_t>(hash(keys[i]) & mask);
        ++counts[part_of[i]];
      }
      std::copy_n(counts, parts_.size(), starts_.data() + piece * parts_.size());
    });
    std::size_t end = 0;
    for (std::size_t p = 0; p < parts_.size(); ++p) {
      parts_[p].first = end;
      for (std::size_t piece = 0; piece < pieces_; ++piece) {
        auto& start = starts_[piece * parts_.size() + p];
        end += std::exchange(start, static_cast<std::uint32_t>(end));
      }
      parts_[p].last = end;
    }
    keys_.resize(keys.size());
    places_.resize(keys.size());
    numbers_.resize(keys.size());
    auto* const dealt = keys_.data();
    auto* const places = places_.data();
    for_dealt(exec, keys.size(), [&](std::size_t i, std::uint32_t at) {
      dealt[at] = keys[i];
      places[at] = static_cast<std::uint32_t>(i);
    });
  }

  /// Numbers the keys of a part and marks where each first appears.
  void number(std::size_t p) {
    auto& own = parts_[p];
    auto const size = own.last - own.first;
    own.numbers.clear();
    own.unique.resize(size);
    own.firsts.resize(size);
    own.counts.resize(size);
    // Through pointers of the loop's own: a mark is a byte, which might alias anything.
    auto const* const keys = keys_.data() + own.first;
    auto const* const places = places_.data() + own.first;
    auto* const numbers = numbers_.data() + own.first;
    auto* const marks = first_.data();
    auto* const unique = own.unique.data();
    auto* const firsts = own.firsts.data();
    auto* const counts = own.counts.data();
    std::uint32_t distinct = 0;
    own.numbers.find_or_insert_each(
        {keys, size}, [&] { return distinct; },
        [&](std::size_t i, std::uint32_t number, bool is_new) {
          numbers[i] = number;
          if (is_new) {
            unique[number] = keys[i];
            firsts[number] = places[i];
            counts[number] = 0;
            marks[places[i]] = 1;
            ++distinct;
          }
        });
    for (std::size_t i = 0; i < size; ++i) {
      ++counts[numbers[i]];
    }
    own.unique.resize(distinct);
  }

  /// Packs the marks into words and counts those before each; returns how many there are.
  std::size_t count_marks(std::size_t keys) {
    auto const words = (keys + 63) / 64;
    marks_.resize(words);
    before_.resize(words);
    std::size_t count = 0;
    for (std::size_t at = 0; at < words; ++at) {
      std::uint64_t word = 0;
      for (std::size_t byte = 0; byte < 8 && at * 64 + byte * 8 < keys; ++byte) {
        std::uint64_t eight = 0;
        std::memcpy(&eight, first_.data() + at * 64 + byte * 8, sizeof eight);
        word |= (eight * 0x0102040810204080U >> 56U) << (byte * 8);
      }
      marks_[at] = word;
      before_[at] = static_cast<std::uint32_t>(count);
      count += static_cast<std::size_t>(std::popcount(word));
    }
    return count;
  }

  /// The number of a key that first appears here.
  [[nodiscard]] std::uint32_t number_at(std::uint32_t place) const noexcept {
    auto const earlier = marks_[place / 64] & ((std::uint64_t{1} << (place % 64)) - 1);
    return before_[place / 64] + static_cast<std::uint32_t>(std::popcount(earlier));
  }

  void place_unique(part& own, id_plan<Key>& plan) const {
    own.overall.resize(own.unique.size());
    for (std::size_t n = 0; n < own.unique.size(); ++n) {
      auto const v = number_at(own.firsts[n]);
      own.overall[n] = v;
      plan.unique[v] = own.unique[n];
      plan.counts[v] = own.counts[n];
    }
  }

  void place_occurrences(part& own, id_plan<Key>& plan) {
    auto* const next = own.counts.data();
    auto const* const overall = own.overall.data();
    for (std::size_t n = 0; n < own.unique.size(); ++n) {
      next[n] = plan.offsets[overall[n]];
    }
    auto* const numbers = numbers_.data();
    auto const* const places = places_.data();
    auto* const occurrences = plan.occurrences.data();
    for (auto at = own.first; at < own.last; ++at) {
      auto const number = numbers[at];
      occurrences[next[number]++] = places[at];
      numbers[at] = overall[number];
    }
  }

  std::vector<part> parts_;  // a power of two
  std::size_t pieces_ = 0;
  std::size_t grain_ = 0;          // keys of a piece
  buffer<std::uint32_t> starts_;   // (pieces, parts), where its first key goes
  buffer<std::uint8_t> part_of_;   // (n)
  buffer<Key> keys_;               // (n), dealt
  buffer<std::uint32_t> places_;   // (n), where they were
  buffer<std::uint32_t> numbers_;  // (n), within their part
  buffer<std::uint8_t> first_;     // (n), one where a key first appears
  buffer<std::uint64_t> marks_;    // (n / 64), the same in bits
  buffer<std::uint32_t> before_;   // (n / 64), how many there are before
};

}  // namespace inlay::inline INLAY_ABI
