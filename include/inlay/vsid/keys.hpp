#pragma once

#include <inlay/core/hash.hpp>
#include <inlay/core/ids.hpp>

#include <compare>
#include <concepts>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// A way to name a row of any table by one value, so that all tables of a width share one index.
template <class T>
concept key_packing = std::totally_ordered<typename T::key> &&
                      requires(typename T::key key, table_id table, raw_id id) {
                        { T::holds(table, id) } -> std::same_as<bool>;
                        { T::pack(table, id) } -> std::same_as<typename T::key>;
                        { T::table(key) } -> std::same_as<table_id>;
                        { T::id(key) } -> std::same_as<raw_id>;
                        { hash(key) } -> std::same_as<std::uint64_t>;
                      };

/// Keys of 64 bits: a 16-bit table and a 48-bit id. Three fifths of the index memory of wide keys;
/// hashed ids that use all 64 bits don't fit and are refused by name.
struct narrow {
  static constexpr char const* name = "narrow";
  /// Bits of an id that a key has room for.
  static constexpr unsigned id_bits = 48;

  struct key {
    std::uint64_t bits = 0;  ///< the table above, the id below
    // Written out: nvcc hands a defaulted one to g++ as used but never defined.
    /// True for the same id of the same table.
    [[nodiscard]] INLAY_HD friend constexpr bool operator==(key left, key right) noexcept {
      return left.bits == right.bits;
    }
    /// By table, then by id.
    [[nodiscard]] INLAY_HD friend constexpr auto operator<=>(key left, key right) noexcept {
      return left.bits <=> right.bits;
    }
  };

  /// True if the id has room in a key.
  [[nodiscard]] INLAY_HD static constexpr bool holds(table_id, raw_id id) noexcept {
    return (id >> id_bits) == 0;
  }
  /// The key of a table's id, which must have room.
  [[nodiscard]] INLAY_HD static constexpr key pack(table_id table, raw_id id) noexcept {
    return {(std::uint64_t{index(table)} << id_bits) | id};
  }
  /// The table of a key.
  [[nodiscard]] INLAY_HD static constexpr table_id table(key packed) noexcept {
    return static_cast<table_id>(packed.bits >> id_bits);
  }
  /// The id of a key.
  [[nodiscard]] INLAY_HD static constexpr raw_id id(key packed) noexcept {
    return packed.bits & ((std::uint64_t{1} << id_bits) - 1);
  }
};

/// Spreads keys that differ anywhere over all 64 bits.
[[nodiscard]] INLAY_HD constexpr std::uint64_t hash(narrow::key packed) noexcept {
  return mix(packed.bits);
}

static_assert(key_packing<narrow>);

}  // namespace inlay::inline INLAY_ABI
