#pragma once

#include <inlay/core/host_exec.hpp>
#include <inlay/core/views.hpp>
#include <inlay/table/row_layout.hpp>

#include <concepts>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// Finds rows by key. `rows[i]` becomes the address of the row of `keys[i]`: weights, then state.
template <class T>
concept finds_rows =
    requires(T store, T const fixed, host_exec const& exec, span<typename T::key const> keys,
             span<float*> rows, span<float const*> known) {
      { store.find_or_create(exec, keys, rows) } -> std::same_as<std::size_t>;  // how many are new
      { fixed.find(keys, known) } -> std::same_as<void>;  // nullptr if unknown
    };

/// Forgets rows, and shows them all.
template <class T>
concept keeps_rows = requires(T store, T const fixed, typename T::key key,
                              void (*visit)(typename T::key, span<float const>)) {
  { store.erase(key) } -> std::same_as<bool>;
  { fixed.for_each(visit) } -> std::same_as<void>;
  { fixed.size() } -> std::same_as<std::size_t>;
  { fixed.bytes() } -> std::same_as<std::size_t>;
  { fixed.layout() } -> std::same_as<row_layout>;
};

/// The home of the rows of all tables of one width. Keys of a call are distinct. A row's address
/// holds until it is erased. Laws: testing/row_store_laws.hpp.
template <class T>
concept row_store = finds_rows<T> && keeps_rows<T>;

}  // namespace inlay::inline INLAY_ABI
