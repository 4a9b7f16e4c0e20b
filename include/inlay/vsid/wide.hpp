#pragma once

#include <inlay/core/hash.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/vsid/keys.hpp>

#include <compare>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Keys of 128 bits, which hold every id: for ids that are hashes of 64 bits. An index takes 21
/// bytes a place instead of 13; rows are the same as under `narrow`.
struct wide {
  /// By which `parts` and messages call it.
  static constexpr char const* name = "wide";

  /// A table and an id, side by side.
  struct key {
    std::uint64_t table = 0;  ///< number of the table
    raw_id id = 0;            ///< within the table

    /// Same table, same id.
    [[nodiscard]] INLAY_HD friend constexpr bool operator==(key left, key right) noexcept {
      return left.table == right.table && left.id == right.id;
    }
    /// By table, then by id.
    [[nodiscard]] INLAY_HD friend constexpr auto operator<=>(key left, key right) noexcept {
      return left.table != right.table ? left.table <=> right.table : left.id <=> right.id;
    }
  };

  /// Whether it fits: always.
  [[nodiscard]] INLAY_HD static constexpr bool holds(table_id, raw_id) noexcept { return true; }
  /// The key of a row.
  [[nodiscard]] INLAY_HD static constexpr key pack(table_id table, raw_id id) noexcept {
    return {index(table), id};
  }
  /// Whose row it is.
  [[nodiscard]] INLAY_HD static constexpr table_id table(key packed) noexcept {
    return static_cast<table_id>(packed.table);
  }
  /// Which row of its table.
  [[nodiscard]] INLAY_HD static constexpr raw_id id(key packed) noexcept { return packed.id; }
};

/// Of table and id.
[[nodiscard]] INLAY_HD constexpr std::uint64_t hash(wide::key packed) noexcept {
  return mix(packed.table, packed.id);
}

static_assert(key_packing<wide>);

}  // namespace inlay::inline INLAY_ABI
