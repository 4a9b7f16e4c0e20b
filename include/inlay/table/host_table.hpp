#pragma once

#include <inlay/core/huge_pages.hpp>
#include <inlay/table/host_rows.hpp>

#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// Tables in host memory: the part that `parts.table` names; `host_rows` does the work.
struct host_table {
  static constexpr char const* name = "host";

  std::size_t slab_bytes = usual_slab_bytes;  ///< memory taken at a time, at most

  /// Rows in host memory.
  template <key_packing Keys, initialiser Init>
  using store = host_rows<Keys, Init>;

  /// Opens an empty table.
  template <key_packing Keys, initialiser Init>
  [[nodiscard]] host_rows<Keys, Init> open(new_row<Keys, Init> maker) const {
    return host_rows<Keys, Init>(std::move(maker), slab_bytes);
  }
};

}  // namespace inlay::inline INLAY_ABI
