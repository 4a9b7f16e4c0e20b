#pragma once

#include <inlay/cache/row_refs.hpp>
#include <inlay/cache/row_streams.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/table/row_store.hpp>

#include <concepts>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Brings the rows of a step to where they are used, and lets them go.
template <class T>
concept brings_rows = requires(T rows, host_exec const& exec, span<typename T::key const> keys,
                               span<std::uint32_t const> counts, step_id step, row_refs& refs,
                               row_streams<host_stream>& via) {
  { rows.bring(exec, via, keys, counts, step, refs) } -> std::same_as<row_traffic>;
  { rows.expect_room(keys.size()) } -> std::same_as<void>;
  { rows.bring(exec, keys, counts, step, refs) } -> std::same_as<row_traffic>;
  { rows.release(refs) } -> std::same_as<void>;
};

/// Shows rows as they are now without changing anything, and brings the table up to date.
template <class T>
concept shows_rows = requires(T rows, T const fixed, host_exec const& exec,
                              span<typename T::key const> keys, span<float const*> weights) {
  { fixed.peek(keys, weights) } -> std::same_as<void>;  // nullptr: unknown
  { rows.flush(exec) } -> std::same_as<std::uint64_t>;  // rows written back
  { fixed.store().layout() } -> std::same_as<row_layout>;
};

/// Rows of one width where a step finds them: in the table, or in a cache before it. It equals a
/// map that never evicts. Laws: testing/organisation_laws.hpp.
template <class T>
concept row_organisation = brings_rows<T> && shows_rows<T>;

}  // namespace inlay::inline INLAY_ABI
