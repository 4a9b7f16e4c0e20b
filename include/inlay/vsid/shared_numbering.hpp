#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/prefetch.hpp>
#include <inlay/vsid/id_plan.hpp>
#include <inlay/vsid/key_index.hpp>
#include <inlay/vsid/number_keys.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// Numbers the distinct keys of a step side by side, and gives the plan that one thread would.
///
/// Each thread numbers the keys of a piece of the step by an index of its own. What the pieces
/// found distinct, a fraction of the keys, is listed piece after piece, and each thread finds the
/// keys of its part of the hashes again in that list: the first entry of a key owns it, and the
/// owners in order are the distinct keys in order of first appearance. Threads share out pieces and
/// parts, so the plan depends on neither.
template <class Key>
class shared_numbering {
 public:
  /// keys (n) → plan. Keeps memory between steps.
  void map(host_exec const& exec, span<Key const> keys, id_plan<Key>& plan) {
    cut(keys.size(), exec.threads());
    plan.virtual_ids.resize(keys.size());
    plan.occurrences.resize(keys.size());
    exec.for_each(pieces_.size(), [&](std::size_t p) { number(pieces_[p], keys, plan); });
    auto const listed = lay_out();
    owners_.resize(listed);
    numbers_.resize(listed);
    exec.for_each(parts_.size(), [&](std::size_t p) { find_owners(p); });
    auto const distinct = count_owners();
    plan.unique.resize(distinct);
    plan.counts.resize(distinct);
    plan.offsets.resize(distinct + 1);
    exec.for_each(pieces_.size(), [&](std::size_t p) { number_owners(pieces_[p], plan); });
    exec.for_each(parts_.size(), [&](std::size_t p) { add_counts(p, plan); });
    plan.offsets[0] = 0;
    for (std::size_t v = 0; v < distinct; ++v) {
      plan.offsets[v + 1] = plan.offsets[v] + plan.counts[v];
    }
    exec.for_each(pieces_.size(), [&](std::size_t p) { place(pieces_[p], plan); });
  }

 private:
  struct alignas(128) piece {  // no two in a line: each is written by its thread
    std::size_t first = 0;     // of its keys
    std::size_t last = 0;
    std::size_t listed = 0;        // its first entry in the list
    std::uint32_t number = 0;      // of the first key that it owns
    key_index<Key> index;          // key → number within the piece
    buffer<Key> unique;            // (distinct of the piece)
    buffer<std::uint8_t> parts;    // (distinct of the piece), by hash
    buffer<std::uint32_t> counts;  // (distinct of the piece); then where its next occurrence goes
  };
  /// A part of the hashes.
  struct alignas(128) part {
    key_index<Key> index;          // key → its first entry in the list
    buffer<Key> keys;              // of the list, in its order
    buffer<std::uint32_t> listed;  // and where they are in it
  };

  void cut(std::size_t keys, std::size_t threads) {
    auto const count = std::min<std::size_t>(threads, 256);
    pieces_.resize(count);
    parts_.resize(count);
    for (std::size_t p = 0; p < count; ++p) {
      pieces_[p].first = keys * p / count;
      pieces_[p].last = keys * (p + 1) / count;
    }
  }

  /// Numbers the keys of a piece; virtual ids become numbers within the piece.
  void number(piece& own, span<Key const> keys, id_plan<Key>& plan) {
    auto const mine = keys.subspan(own.first, own.last - own.first);
    own.unique.resize(mine.size());
    own.parts.resize(mine.size());
    own.counts.resize(mine.size());
    auto const distinct = number_keys(mine, own.index, plan.virtual_ids.data() + own.first,
                                      own.unique.data(), own.counts.data());
    own.unique.resize(distinct);
    for (std::size_t u = 0; u < distinct; ++u) {
      // By bits below those that choose a key's home.
      own.parts[u] =
          static_cast<std::uint8_t>((hash(own.unique[u]) & 0xffffU) * parts_.size() >> 16U);
    }
  }

  /// Says where each piece's entries are in the list; returns how many there are in all.
  std::size_t lay_out() noexcept {
    std::size_t listed = 0;
    for (auto& own : pieces_) {
      own.listed = listed;
      listed += own.unique.size();
    }
    return listed;
  }

  /// Finds the first entry of every key of a part.
  void find_owners(std::size_t number) {
    auto& own = parts_[number];
    own.keys.resize(owners_.size());
    own.listed.resize(owners_.size());
    std::size_t size = 0;
    for (auto const& from : pieces_) {
      for (std::size_t u = 0; u < from.unique.size(); ++u) {
        // Written in any case: whose a key is can't be foretold.
        own.keys[size] = from.unique[u];
        own.listed[size] = static_cast<std::uint32_t>(from.listed + u);
        size += from.parts[u] == number ? 1U : 0U;
      }
    }
    own.keys.resize(size);
    own.listed.resize(size);
    own.index.clear();
    std::size_t next = 0;
    own.index.find_or_insert_each(
        std::as_const(own.keys).view(), [&] { return own.listed[next]; },
        [&](std::size_t i, std::uint32_t owner, bool) {
          owners_[own.listed[i]] = owner;
          next = i + 1;
        });
  }

  /// Says what the first key that each piece owns is numbered; returns how many keys there are.
  std::size_t count_owners() noexcept {
    std::uint32_t count = 0;
    for (auto& own : pieces_) {
      own.number = count;
      for (std::size_t at = own.listed; at < own.listed + own.unique.size(); ++at) {
        count += owners_[at] == at ? 1U : 0U;
      }
    }
    return count;
  }

  void number_owners(piece const& own, id_plan<Key>& plan) {
    auto number = own.number;
    for (std::size_t u = 0; u < own.unique.size(); ++u) {
      if (owners_[own.listed + u] != own.listed + u) continue;
      numbers_[own.listed + u] = number;
      plan.unique[number++] = own.unique[u];
    }
  }

  /// Counts the keys of a part over all pieces. What is before a piece is where its first
  /// occurrence goes, seen from the key's first.
  void add_counts(std::size_t number, id_plan<Key>& plan) {
    auto const& listed = parts_[number].listed;
    std::size_t p = 0;
    for (auto const at : listed) {
      while (at >= pieces_[p].listed + pieces_[p].unique.size()) {
        ++p;
      }
      auto const v = numbers_[owners_[at]];
      auto& count = pieces_[p].counts[at - pieces_[p].listed];
      auto const before = owners_[at] == at ? 0 : plan.counts[v];
      plan.counts[v] = before + count;
      count = before;
    }
  }

  /// Gives every occurrence of a piece its number and its place in the transpose.
  void place(piece& own, id_plan<Key>& plan) {
    auto* const next = own.counts.data();
    auto* const numbers = numbers_.data() + own.listed;
    for (std::size_t u = 0; u < own.unique.size(); ++u) {
      auto const owner = owners_[own.listed + u];
      if (owner != own.listed + u) numbers[u] = numbers_[owner];  // others read those of owners
      next[u] += plan.offsets[numbers[u]];
    }
    auto* const virtual_ids = plan.virtual_ids.data();
    auto* const occurrences = plan.occurrences.data();
    look_ahead<24>(
        own.last - own.first,
        [&](std::size_t i) { prefetch_line(occurrences + next[virtual_ids[own.first + i]]); },
        [&](std::size_t i) {
          auto& id = virtual_ids[own.first + i];
          occurrences[next[id]++] = static_cast<std::uint32_t>(own.first + i);
          id = numbers[id];
        });
  }

  std::vector<piece> pieces_;
  std::vector<part> parts_;
  buffer<std::uint32_t> owners_;   // (listed), the first entry of the same key
  buffer<std::uint32_t> numbers_;  // (listed), of the key among all
};

}  // namespace inlay::inline INLAY_ABI
