#pragma once

#include <inlay/batch/batch.hpp>
#include <inlay/batch/batch_view.hpp>
#include <inlay/cache/no_cache.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/hash.hpp>
#include <inlay/core/ids.hpp>

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// One embedding table, as the user wants it.
struct table_shape {
  std::string name = "table";         ///< what errors call it
  std::size_t dim = 16;               ///< columns of a row
  float initial_scale = 0.01F;        ///< of new rows, see `parts.init`
  float learning_rate_factor = 1.0F;  ///< times the optimizer's rate
  std::string pooling = {};  ///< which of a `one_of` in `parts.pooling`; empty: the one it holds
};

/// What is known when the program runs: tables, who reads them, sizes. Types stand in `parts`.
struct shape {
  static constexpr std::size_t most_columns = std::size_t{1} << 20U;  ///< of a table

  static constexpr std::size_t most_prefetched = 1024;  ///< steps

  std::vector<table_shape> tables;     ///< of any widths
  std::vector<table_id> field_tables;  ///< the table that each field reads; several may share one
  std::size_t batch = 1024;            ///< samples of one global batch
  std::size_t cache_rows = 0;          ///< of each width of tables, where there is a cache
  std::size_t prefetch =
      0;  ///< steps whose rows `next` brings ahead, while the step at hand trains
  double deadline_s = 60.0;  ///< seconds that a rank waits for the others, if there are any
  float dense_learning_rate_factor = 1.0F;  ///< of attached parameters
  float dense_clip_norm = 0.0F;  ///< longest mean gradient of all attached parameters; 0: any
  std::uint64_t seed = 1;        ///< of new rows

  /// Tables "C1", "C2", ... of one width, one for each field.
  [[nodiscard]] static shape one_table_per_field(std::size_t fields, std::size_t dim) {
    expects(fields <= std::numeric_limits<std::uint16_t>::max(), "there are at most 65,535 tables");
    shape result;
    for (std::size_t field = 0; field < fields; ++field) {
      auto name = std::string("C");
      name += std::to_string(field + 1);  // "C" + ... draws a false warning from g++ 12
      result.tables.push_back({.name = std::move(name), .dim = dim});
      result.field_tables.push_back(static_cast<table_id>(field));
    }
    return result;
  }

  /// All that ranks must have the same, in one number; each may have a cache of its own size.
  [[nodiscard]] std::uint64_t fingerprint() const noexcept {
    auto bits = mix(mix(seed, batch), mix(prefetch, tables.size()));
    auto const add = [&](float value) { bits = mix(bits, std::bit_cast<std::uint32_t>(value)); };
    for (auto const& table : tables) {
      bits = mix(bits, table.dim);
      add(table.initial_scale);
      add(table.learning_rate_factor);
      for (auto const letter : table.pooling) {
        bits = mix(bits, static_cast<std::uint64_t>(letter));
      }
    }
    for (auto const table : field_tables) {
      bits = mix(bits, index(table));
    }
    add(dense_learning_rate_factor);
    add(dense_clip_norm);
    return bits;
  }

  /// Throws the sentence that names what does not fit together.
  void check() const {
    expects(!field_tables.empty(), "a shape needs at least one field");
    expects(!tables.empty(), "a shape needs at least one table");
    expects(tables.size() <= std::numeric_limits<std::uint16_t>::max(),
            "there are at most 65,535 tables");
    expects(batch > 0, "a global batch needs at least one sample");
    expects(deadline_s > 0.0 && deadline_s <= 1e9, "a deadline must be above zero seconds");
    expects(prefetch <= most_prefetched, "rows of at most 1,024 steps are brought ahead");
    expects(std::isfinite(dense_learning_rate_factor),
            "the dense learning-rate factor must be finite");
    expects(std::isfinite(dense_clip_norm) && dense_clip_norm >= 0,
            "the norm to clip dense gradients to must be finite; zero clips nothing");
    for (std::size_t field = 0; field < field_tables.size(); ++field) {
      if (index(field_tables[field]) >= tables.size()) {
        fail("field " + std::to_string(field) + " reads table " +
             std::to_string(index(field_tables[field])) + ", and there are " +
             std::to_string(tables.size()));
      }
    }
    for (auto const& table : tables) {
      if (table.dim == 0) fail("table " + table.name + " has no columns");
      if (table.dim > most_columns) fail("table " + table.name + " has more than 2^20 columns");
      if (!std::isfinite(table.initial_scale) || !std::isfinite(table.learning_rate_factor)) {
        fail("the scale and the learning-rate factor of table " + table.name + " must be finite");
      }
    }
  }
};

/// A shape, if it is right and goes with the parts.
template <class Parts>
[[nodiscard]] shape checked(shape given) {
  given.check();
  bool const caches = !std::is_same_v<typename Parts::cache_type, no_cache>;
  expects(caches || given.cache_rows == 0,
          "cache_rows is set, but parts.cache is no_cache: name a policy, such as lru");
  expects(!caches || given.cache_rows > 0, "parts.cache names a policy, but cache_rows is 0");
  return given;
}

/// Throws the sentence that says how a batch is wrong, in itself or for the shape.
inline void check(batch_view const& batch, shape const& shape) {
  check(batch);
  if (batch.fields != shape.field_tables.size()) {
    fail("the batch has " + std::to_string(batch.fields) + " fields and the shape " +
         std::to_string(shape.field_tables.size()));
  }
}

}  // namespace inlay::inline INLAY_ABI
