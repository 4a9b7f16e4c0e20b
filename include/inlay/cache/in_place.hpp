#pragma once

#include <inlay/cache/organisation.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// Rows used where they lie in the table: nothing is copied, nothing is pinned.
template <row_store Store>
class in_place_rows {
 public:
  using key = typename Store::key;

  explicit in_place_rows(Store store) : store_(std::move(store)) {}

  [[nodiscard]] Store const& store() const noexcept { return store_; }
  [[nodiscard]] std::size_t bytes() const noexcept { return store_.bytes(); }

  void expect_room(std::size_t) const noexcept {}

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

  void release(row_refs&) noexcept {}

  void peek(span<key const> keys, span<float const*> weights) const { store_.find(keys, weights); }

  std::uint64_t flush(host_exec const&) noexcept { return 0; }

 private:
  Store store_;
};

/// The organisation without a cache: the part that `parts.organisation` names.
struct in_place {
  static constexpr char const* name = "in_place";

  template <class Cache, row_store Store>
  using rows = in_place_rows<Store>;

  template <class Cache, row_store Store>
  [[nodiscard]] in_place_rows<Store> open(Cache const&, std::size_t, Store store) const {
    return in_place_rows<Store>(std::move(store));
  }
};

}  // namespace inlay::inline INLAY_ABI
