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
#include <numeric>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// Numbers the distinct keys of a step side by side, and gives the plan that one thread would.
///
/// Each thread numbers the keys of a piece of the step by an index of its own. What the pieces
/// found distinct, a fraction of the keys, is listed piece after piece. The first entry of a key
/// owns it, and the owners in order are the distinct keys in order of first appearance. All entries
/// of the first piece are owners; the others are looked up in its index, and what is not there is
/// found again among themselves, each thread taking a part of the hashes. Threads share out pieces
/// and parts, so the plan depends on neither.
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
    exec.for_each(parts_.size() * pieces_.size(), [&](std::size_t i) {
      look_in_first(pieces_[1 + i / pieces_.size()], i % pieces_.size());
    });
    exec.for_each(parts_.size(), [&](std::size_t p) { list(parts_[p], p); });
    exec.for_each(parts_.size(), [&](std::size_t p) { find_owners(parts_[p]); });
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
    std::size_t listed = 0;         // its first entry in the list
    std::uint32_t number = 0;       // of the first key that it owns
    key_index<Key> index;           // key → number within the piece
    buffer<Key> unique;             // (distinct of the piece)
    buffer<std::uint8_t> parts;     // (distinct of the piece), by hash
    buffer<std::uint32_t> counts;   // (distinct of the piece); then where its next occurrence goes
    buffer<std::uint32_t> numbers;  // (distinct of the piece), among all
  };
  /// A part of the hashes, of the list behind the first piece.
  struct alignas(128) part {
    buffer<std::uint32_t> listed;  // where its keys are in the list, ascending
    buffer<Key> keys;              // of them, those that the first piece has not
    buffer<std::uint32_t> places;  // and where these are in the list
    key_index<Key> index;          // such a key → its first entry in the list
  };

  void cut(std::size_t keys, std::size_t threads) {
    auto const count = std::clamp<std::size_t>(threads, 2, 256);
    pieces_.resize(count);
    parts_.resize(count - 1);
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
    if (parts_.size() == 1) return;
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

  /// Looks a share of a piece's keys up in the first piece. Those that aren't there own themselves,
  /// unless a piece between has them too.
  void look_in_first(piece const& own, std::size_t share) {
    auto const first = own.unique.size() * share / pieces_.size();
    auto const last = own.unique.size() * (share + 1) / pieces_.size();
    pieces_[0].index.find_each(own.unique.view().subspan(first, last - first),
                               [&, at = static_cast<std::uint32_t>(own.listed + first)](
                                   std::size_t i, std::uint32_t owner) {
                                 auto const self = at + static_cast<std::uint32_t>(i);
                                 owners_[self] = owner == key_index<Key>::absent ? self : owner;
                               });
  }

  /// Lists the keys of a part. Each entry is written in any case: which ones stay can't be
  /// foretold.
  void list(part& own, std::size_t number) {
    if (parts_.size() == 1) {
      own.listed.resize(pieces_[1].unique.size());
      std::iota(own.listed.begin(), own.listed.end(),
                static_cast<std::uint32_t>(pieces_[1].listed));
      return;
    }
    auto const most = owners_.size() - pieces_[0].unique.size() + 1;
    own.listed.resize(most);
    own.keys.resize(most);
    own.places.resize(most);
    std::size_t listed = 0;
    std::size_t keys = 0;
    for (std::size_t p = 1; p < pieces_.size(); ++p) {
      auto const& from = pieces_[p];
      for (std::size_t u = 0; u < from.unique.size(); ++u) {
        auto const at = static_cast<std::uint32_t>(from.listed + u);
        auto const is_mine = from.parts[u] == number ? 1U : 0U;
        own.listed[listed] = own.places[keys] = at;
        own.keys[keys] = from.unique[u];
        listed += is_mine;
        keys += owners_[at] == at ? is_mine : 0U;
      }
    }
    own.listed.resize(listed);
    own.keys.resize(keys);
    own.places.resize(keys);
  }

  /// Finds the first entry of the keys of a part that the first piece has not.
  void find_owners(part& own) {
    if (parts_.size() == 1) return;  // within a piece all are distinct
    own.index.clear();
    std::size_t next = 0;
    own.index.find_or_insert_each(
        std::as_const(own.keys).view(), [&] { return own.places[next]; },
        [&](std::size_t i, std::uint32_t owner, bool) {
          owners_[own.places[i]] = owner;
          next = i + 1;
        });
  }

  /// Says what the first key that each piece owns is numbered; returns how many keys there are.
  std::size_t count_owners() noexcept {
    auto count = static_cast<std::uint32_t>(pieces_[0].unique.size());
    for (std::size_t p = 1; p < pieces_.size(); ++p) {
      auto& own = pieces_[p];
      own.number = count;
      for (std::size_t at = own.listed; at < own.listed + own.unique.size(); ++at) {
        count += owners_[at] == at ? 1U : 0U;
      }
    }
    return count;
  }

  /// Numbers the keys that a piece owns.
  void number_owners(piece& own, id_plan<Key>& plan) {
    if (&own == pieces_.data()) {
      std::copy(own.unique.begin(), own.unique.end(), plan.unique.begin());
      std::copy_n(own.counts.begin(), own.unique.size(), plan.counts.begin());
      std::fill_n(own.counts.begin(), own.unique.size(), 0);
      std::iota(owners_.begin(), owners_.begin() + own.unique.size(), 0U);
      std::iota(numbers_.begin(), numbers_.begin() + own.unique.size(), 0U);
      return;
    }
    std::size_t owned = 0;
    for (std::size_t u = 0; u < own.unique.size(); ++u) {
      auto const at = own.listed + u;
      numbers_[at] = own.number + static_cast<std::uint32_t>(owned);
      own.unique[owned] = own.unique[u];
      owned += owners_[at] == at ? 1U : 0U;
    }
    std::copy_n(own.unique.begin(), owned, plan.unique.begin() + own.number);
  }

  /// Counts the keys of a part over the pieces behind the first. What is before a piece is where
  /// its first occurrence goes, seen from the key's first.
  void add_counts(std::size_t number, id_plan<Key>& plan) {
    auto const& listed = parts_[number].listed;
    std::size_t p = 1;
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
    own.numbers.resize(own.unique.size());
    auto* const next = own.counts.data();
    auto* const numbers = own.numbers.data();
    for (std::size_t u = 0; u < own.unique.size(); ++u) {
      numbers[u] = numbers_[owners_[own.listed + u]];
      next[u] += plan.offsets[numbers[u]];
    }
    auto* const virtual_ids = plan.virtual_ids.data();
    auto* const occurrences = plan.occurrences.data();
    with_prefetch<24>(
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
  buffer<std::uint32_t> numbers_;  // (listed), of owners among all
};

}  // namespace inlay::inline INLAY_ABI
