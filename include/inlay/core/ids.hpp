#pragma once

#include <inlay/core/config.hpp>

#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// A categorical value as the data gives it: hashed or dense, meaningful only within its table.
using raw_id = std::uint64_t;

/// Number of an embedding table. A type of its own, so that it can't be taken for an id or a field.
enum class table_id : std::uint16_t {};

/// Place of a key among the distinct keys of a step: dense, 0 up, in order of first appearance.
using virtual_id = std::uint32_t;

/// Number of an optimizer step: how many global batches were applied before it.
enum class step_id : std::int64_t {};

/// Number of a row's place in a cache.
using slot_id = std::uint32_t;

/// The table's place among all.
[[nodiscard]] INLAY_HD constexpr std::size_t index(table_id table) noexcept {
  return static_cast<std::size_t>(table);
}

/// The step as a number to compute with.
[[nodiscard]] INLAY_HD constexpr std::int64_t number(step_id step) noexcept {
  return static_cast<std::int64_t>(step);
}

/// The step after it.
[[nodiscard]] INLAY_HD constexpr step_id next(step_id step) noexcept {
  return step_id{number(step) + 1};
}

}  // namespace inlay::inline INLAY_ABI
