#pragma once

#include <inlay/core/host_exec.hpp>
#include <inlay/table/row_store.hpp>
#include <inlay/testing/trial.hpp>
#include <inlay/vsid/keys.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <set>
#include <vector>

namespace inlay::inline INLAY_ABI {

namespace testing {

/// The keys of a vector, to be read.
template <class Key>
[[nodiscard]] span<Key const> view_of(std::vector<Key> const& keys) {
  return {keys.data(), keys.size()};
}

/// A store beside the map that it must equal.
template <row_store Store>
class watched_store {
 public:
  using key = typename Store::key;
  /// Weights, then state.
  using content = std::vector<float>;

  /// An empty store.
  explicit watched_store(Store store) : store_(std::move(store)) {}

  /// The store that is watched.
  [[nodiscard]] Store const& store() const noexcept { return store_; }

  /// Creates or finds rows of distinct keys, checks what they hold, and writes to some.
  void touch(trial& with, host_exec const& exec, std::vector<key> const& keys,
             std::map<key, content>& initial) {
    std::vector<float*> rows(keys.size());
    auto const known = static_cast<std::size_t>(
        std::count_if(keys.begin(), keys.end(), [&](key row) { return rows_.contains(row); }));
    auto const created = store_.find_or_create(exec, view_of(keys), {rows.data(), rows.size()});
    with.require(created == keys.size() - known, "it counts the rows that it creates");
    for (std::size_t i = 0; i < keys.size(); ++i) {
      content const now(rows[i], rows[i] + width());
      if (auto const at = rows_.find(keys[i]); at != rows_.end()) {
        with.require(at->second.address == rows[i], "a row keeps its address until it is erased");
        with.require(same(at->second.values, now), "a row holds what was written to it");
      } else {
        auto const first = initial.try_emplace(keys[i], now).first;
        with.require(same(first->second, now), "a new row depends on seed, table and id alone");
        rows_.emplace(keys[i], entry{rows[i], now});
      }
      if (with.chance(50)) write(with, rows[i], rows_.at(keys[i]).values);
    }
  }

  /// Erases a row from both.
  void erase(trial const& with, key row) {
    with.require(store_.erase(row) == (rows_.erase(row) != 0),
                 "erase tells whether a row was there");
  }

  /// Laws: find gives the addresses of the rows that are there, and changes nothing.
  void check_find(trial const& with, std::vector<key> const& keys) const {
    std::vector<float const*> rows(keys.size());
    store_.find(view_of(keys), {rows.data(), rows.size()});
    for (std::size_t i = 0; i < keys.size(); ++i) {
      auto const at = rows_.find(keys[i]);
      with.require(rows[i] == (at == rows_.end() ? nullptr : at->second.address),
                   "find gives a row's address, nullptr where there is none");
    }
    with.require(store_.size() == rows_.size(), "size counts the rows, and find creates none");
  }

  /// Law: for_each shows every row once, as it is, and size and bytes agree with it.
  void check_all(trial const& with) const {
    std::set<key> seen;
    store_.for_each([&](key row, span<float const> values) {
      with.require(seen.insert(row).second, "for_each shows a row once");
      auto const at = rows_.find(row);
      with.require(at != rows_.end(), "for_each shows only rows that are there");
      with.require(values.data() == at->second.address && values.size() == width(),
                   "for_each shows a row where it lies, whole");
      with.require(same(at->second.values, {values.begin(), values.end()}),
                   "rows that are not touched stay as they are");
    });
    with.require(seen.size() == rows_.size(), "for_each shows every row");
    with.require(store_.size() == rows_.size(), "size counts the rows");
    with.require(store_.bytes() >= rows_.size() * width() * sizeof(float),
                 "bytes counts at least the rows");
  }

 private:
  struct entry {
    float* address;
    content values;
  };

  [[nodiscard]] std::size_t width() const { return store_.layout().floats(); }
  [[nodiscard]] static bool same(content const& left, content const& right) {
    return left.size() == right.size() &&
           std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0;
  }
  void write(trial& with, float* row, content& values) const {
    for (std::size_t column = 0; column < width(); ++column) {
      values[column] = row[column] = static_cast<float>(with.below(1000));
    }
  }

  Store store_;
  std::map<key, entry> rows_;
};

/// Distinct keys of `tables` tables in random order.
template <key_packing Keys>
[[nodiscard]] std::vector<typename Keys::key> distinct_keys(trial& with, std::size_t count,
                                                            std::size_t tables, std::size_t ids) {
  std::set<typename Keys::key> taken;
  std::vector<typename Keys::key> keys;
  for (std::size_t draw = 0; draw < count; ++draw) {
    auto const key = Keys::pack(static_cast<table_id>(with.below(tables)), with.below(ids));
    if (taken.insert(key).second) keys.push_back(key);
  }
  return keys;
}

/// Checks the laws of `row_store`; throws `error` with the one that is broken. `make()` opens an
/// empty store, each time with the same seed, for `tables` tables; several of them live side by
/// side under different orders, batches and threads.
template <key_packing Keys = narrow, class Make>
void check_row_store(Make const& make, std::size_t tables, std::uint64_t seed = 1) {
  using store = decltype(make());
  trial with("the row store", seed);
  std::map<typename store::key, std::vector<float>> initial;
  for (std::size_t const threads : {1U, 2U, 3U}) {
    host_exec const exec(threads);
    watched_store<store> watched(make());
    for (std::size_t round = 0; round < 60; ++round) {
      auto const ids = 1 + with.skewed(3000);
      watched.touch(with, exec, distinct_keys<Keys>(with, with.skewed(2000), tables, ids), initial);
      for (auto const key : distinct_keys<Keys>(with, with.below(40), tables, ids)) {
        watched.erase(with, key);
      }
      watched.check_find(with, distinct_keys<Keys>(with, 200, tables, 2 * ids));
      if (round % 10 == 0) watched.check_all(with);
    }
    watched.check_all(with);
  }
}

}  // namespace testing

}  // namespace inlay::inline INLAY_ABI
