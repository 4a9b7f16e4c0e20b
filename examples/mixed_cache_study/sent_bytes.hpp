#pragma once

#include <inlay/batch/batch_view.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/exchange/owner_of.hpp>
#include <inlay/vsid/keys.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

/// What all ranks together send in some steps, by formula.
///
/// For a step of R ranks, with F fields of dim d, S samples of which rank r has s(r), and K bytes a
/// key with its count: let U be the distinct keys of the step, u(r) those of rank r's samples, and
/// x(r) those of them that another rank owns. Floats have 4 bytes, all_reduce is a ring, and what a
/// rank sends itself is nothing. In bytes of rank r, with K = 12:
///
///     owner_all_to_all        keys 8 (R - 1) + K x(r)           rows and gradients, summed over
///     all
///                                                               ranks: 4 d x(r) each
///     virtual_all_reduce      keys (R - 1) (8 + K u(r))         both 2 (R - 1) / R 4 d U
///     virtual_gather_scatter  as before                         both, on average (R - 1) / R 4 d U
///     pooled_all_to_all       keys 24 (R - 1) + 12 an id that another rank's table has
///                             rows and gradients, on average (R - 1) / R 4 d F S / R each
///
/// Without virtual ids occurrences take the place of distinct keys in U, u and x, and in the
/// virtual exchanges K is 8, for counts are all one. An engine adds, whatever the exchange, four
/// meetings of 32 (R - 1) bytes a step, by which ranks agree, and 2 (R - 1) / R 4 P for a network
/// of P parameters.
struct sent_bytes {
  std::uint64_t keys = 0;
  std::uint64_t rows = 0;       ///< or pooled columns
  std::uint64_t gradients = 0;  ///< of them
  std::uint64_t network = 0;    ///< gradients of its parameters
  std::uint64_t meetings = 0;

  [[nodiscard]] std::uint64_t total() const { return keys + rows + gradients + network + meetings; }
  sent_bytes& operator+=(sent_bytes const& more) {
    keys += more.keys;
    rows += more.rows;
    gradients += more.gradients;
    network += more.network;
    meetings += more.meetings;
    return *this;
  }
};

/// The keys of one step, by the rank that has the samples.
class step_keys {
 public:
  using key = inlay::narrow::key;

  /// Adds the next rank's samples; field f reads table f.
  void add(inlay::batch_view const& share) {
    std::vector<key> keys;
    for (std::size_t field = 0; field < share.fields; ++field) {
      auto const table = static_cast<inlay::table_id>(field);
      for (std::size_t row = 0; row < share.rows; ++row) {
        keys.push_back(inlay::narrow::pack(table, share.ids[share.bag(field, row)]));
      }
    }
    fields_ = share.fields;
    samples_.push_back(share.rows);
    of_ranks_.push_back(std::move(keys));
  }

  /// The same without repetitions within a rank.
  [[nodiscard]] step_keys distinct() const {
    auto result = *this;
    for (auto& keys : result.of_ranks_) {
      remove_repeated(keys);
    }
    return result;
  }

  [[nodiscard]] std::size_t ranks() const { return of_ranks_.size(); }
  [[nodiscard]] std::size_t fields() const { return fields_; }
  /// Samples of each rank.
  [[nodiscard]] std::vector<std::size_t> const& samples() const { return samples_; }

  /// Keys of all ranks, with repetitions.
  [[nodiscard]] std::uint64_t used() const {
    std::uint64_t count = 0;
    for (auto const& keys : of_ranks_) {
      count += keys.size();
    }
    return count;
  }
  /// Of them those that another rank owns.
  [[nodiscard]] std::uint64_t used_elsewhere() const {
    std::uint64_t count = 0;
    for (std::size_t rank = 0; rank < ranks(); ++rank) {
      for (auto const packed : of_ranks_[rank]) {
        if (inlay::owner_of(hash(packed), ranks()) != rank) ++count;
      }
    }
    return count;
  }
  /// Distinct keys of the whole step.
  [[nodiscard]] std::uint64_t merged() const {
    std::vector<key> all;
    for (auto const& keys : of_ranks_) {
      all.insert(all.end(), keys.begin(), keys.end());
    }
    remove_repeated(all);
    return all.size();
  }

 private:
  static void remove_repeated(std::vector<key>& keys) {
    std::sort(keys.begin(), keys.end());
    keys.erase(std::unique(keys.begin(), keys.end()), keys.end());
  }

  std::vector<std::vector<key>> of_ranks_;
  std::vector<std::size_t> samples_;
  std::size_t fields_ = 0;
};

/// Of all ranks, in an all-reduce of so many bytes.
[[nodiscard]] inline std::uint64_t ring_bytes(std::uint64_t bytes, std::uint64_t ranks) {
  return ranks * ((2 * (ranks - 1) * bytes + ranks - 1) / ranks);
}

/// What an exchange of a row a key sends. `whole`: the keys of the step, `key_bytes` each.
[[nodiscard]] inline sent_bytes bytes_by_key(std::string const& exchange, step_keys const& keys,
                                             std::uint64_t whole, std::uint64_t key_bytes,
                                             std::uint64_t dim) {
  auto const ranks = std::uint64_t{keys.ranks()};
  auto const row = 4 * dim;
  if (exchange == "owner_all_to_all") {
    auto const away = keys.used_elsewhere();
    return {.keys = ranks * (ranks - 1) * 8 + key_bytes * away,
            .rows = row * away,
            .gradients = row * away};
  }
  auto const gathered = (ranks - 1) * (8 * ranks + key_bytes * keys.used());
  auto const moved =
      exchange.ends_with("all_reduce") ? ring_bytes(row * whole, ranks) : row * (ranks - 1) * whole;
  return {.keys = gathered, .rows = moved, .gradients = moved};
}

/// What pooled_all_to_all sends where every bag has one id and table t is rank t mod ranks'.
[[nodiscard]] inline sent_bytes bytes_pooled(step_keys const& keys, std::uint64_t dim) {
  auto const ranks = std::uint64_t{keys.ranks()};
  std::uint64_t bags = 0;  // whose table another rank owns
  for (std::uint64_t rank = 0; rank < ranks; ++rank) {
    auto const own_fields = (keys.fields() + ranks - 1 - rank) / ranks;
    bags += keys.samples()[rank] * (keys.fields() - own_fields);
  }
  return {.keys = ranks * (ranks - 1) * 24 + 12 * bags,
          .rows = 4 * dim * bags,
          .gradients = 4 * dim * bags};
}
