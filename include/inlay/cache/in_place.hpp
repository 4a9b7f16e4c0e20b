#pragma once

#include <inlay/cache/organisation.hpp>
#include <inlay/cache/row_streams.hpp>
#include <inlay/core/buffer.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// Rows used where they lie in the table: nothing is copied, nothing is pinned.
template <row_store Store>
class in_place_rows {
 public:
  using key = typename Store::key;

  /// Rows in a store, used where they lie.
  explicit in_place_rows(Store store) : store_(std::move(store)) {}

  /// Where the rows are.
  [[nodiscard]] Store const& store() const noexcept { return store_; }
  /// Bytes of the store; nothing else is held.
  [[nodiscard]] std::size_t bytes() const noexcept { return store_.bytes(); }

  /// There always is: nothing is cached.
  void expect_room(std::size_t) const noexcept {}

  /// Finds or creates the rows of distinct keys.
  row_traffic bring(host_exec const& exec, span<key const> keys, span<std::uint32_t const>, step_id,
                    row_refs& refs) {
    refs.resize(keys.size());
    auto const created = store_.find_or_create(exec, keys, refs.weights.view());
    auto const dim = store_.layout().dim;
    for (std::size_t u = 0; u < keys.size(); ++u) {
      refs.state[u] = refs.weights[u] + dim;
    }
    return {.unique = keys.size(),
            .hits = keys.size() - created,
            .misses = created,
            .created = created};
  }

  /// The same: nothing travels.
  template <class Stream>
  row_traffic bring(host_exec const& exec, row_streams<Stream>&, span<key const> keys,
                    span<std::uint32_t const> counts, step_id step, row_refs& refs) {
    return bring(exec, keys, counts, step, refs);
  }

  /// Creates those that nobody has touched, so that they are there for good; they stay anyway.
  row_traffic keep(host_exec const& exec, span<key const> keys, step_id step) {
    row_refs refs;
    buffer<std::uint32_t> once;
    once.assign(keys.size(), 1);
    return bring(exec, keys, std::as_const(once).view(), step, refs);
  }

  /// Nothing is pinned, so nothing is let go.
  void release(row_refs&) noexcept {}

  /// Rows as they are; nullptr where nobody has touched one.
  void peek(span<key const> keys, span<float const*> weights) const { store_.find(keys, weights); }

  /// Nothing is written back: returns 0.
  std::uint64_t flush(host_exec const&) noexcept { return 0; }

 private:
  Store store_;
};

/// The organisation without a cache: the part that `parts.organisation` names.
struct in_place {
  static constexpr char const* name = "in_place";

  /// Rows that are used where they are stored.
  template <class Cache, row_store Store>
  using rows = in_place_rows<Store>;

  /// Opens rows that stay in their store; cache and capacity are of no use.
  template <class Cache, row_store Store>
  [[nodiscard]] in_place_rows<Store> open(Cache const&, std::size_t, Store store) const {
    return in_place_rows<Store>(std::move(store));
  }
};

}  // namespace inlay::inline INLAY_ABI
