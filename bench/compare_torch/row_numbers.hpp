#pragma once

#include "value_files.hpp"

#include <inlay/batch/batch.hpp>
#include <inlay/batch/batch_view.hpp>
#include <inlay/core/ids.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

/// Numbers the ids of each field 0 up in the order in which they appear, since tables of PyTorch
/// and FBGEMM have rows 0 .. n - 1 and inlay's take any id. Every id has a row and no row is
/// without one: the smallest tables that the ids allow.
class row_numbers {
 public:
  /// Of so many fields, each with a table of its own.
  explicit row_numbers(std::size_t fields) : numbers_(fields), ids_(fields) {}

  /// The row of an id, which is numbered now if it is new.
  [[nodiscard]] std::int64_t of(std::size_t field, inlay::raw_id id) {
    auto const [at, added] =
        numbers_[field].try_emplace(id, static_cast<std::int64_t>(ids_[field].size()));
    if (added) ids_[field].push_back(id);
    return at->second;
  }

  /// The rows of a batch of one id a bag, in the order of its ids. // (fields * rows)
  [[nodiscard]] std::vector<std::int64_t> of(inlay::batch_view const& batch) {
    std::vector<std::int64_t> rows(batch.ids.size());
    for (std::size_t at = 0; at < rows.size(); ++at) {
      rows[at] = of(at / batch.rows, batch.ids[at]);
    }
    return rows;
  }

  /// Rows of each table. // (fields)
  [[nodiscard]] std::vector<std::int64_t> table_rows() const {
    std::vector<std::int64_t> sizes;
    sizes.reserve(ids_.size());
    for (auto const& ids : ids_) {
      sizes.push_back(static_cast<std::int64_t>(ids.size()));
    }
    return sizes;
  }

  /// The ids of a field in the order of their rows.
  [[nodiscard]] std::vector<inlay::raw_id> const& ids(std::size_t field) const {
    return ids_[field];
  }

  [[nodiscard]] std::size_t fields() const { return ids_.size(); }

 private:
  std::vector<std::unordered_map<inlay::raw_id, std::int64_t>> numbers_;  // by field
  std::vector<std::vector<inlay::raw_id>> ids_;                           // by field
};

/// Writes the weights of all rows, table after table, in the order of their numbers. An id that was
/// never trained has its initial row. `ids_of(field)`: what the engine knows a table's rows by.
template <class Engine, class IdsOf>
void write_rows(std::string const& path, Engine& trainer, IdsOf const& ids_of) {
  auto const fields = trainer.facts().field_tables.size();
  auto const dim = trainer.facts().tables[0].dim;
  std::vector<std::vector<float>> tables(fields);
  std::size_t most = 0;
  for (std::size_t field = 0; field < fields; ++field) {
    tables[field].reserve(ids_of(field).size() * dim);
    most = std::max(most, ids_of(field).size());
  }
  constexpr std::size_t at_a_time = 4096;
  inlay::batch wanted;
  for (std::size_t first = 0; first < most; first += at_a_time) {
    auto const rows = std::min(at_a_time, most - first);
    wanted.reset_bags({rows, fields, 0});
    for (std::size_t field = 0; field < fields; ++field) {
      auto const& ids = ids_of(field);
      for (auto row = first; row < first + rows; ++row) {
        wanted.add_bag({ids.data() + std::min(row, ids.size()), row < ids.size() ? 1U : 0U});
      }
    }
    auto const pooled = trainer.lookup(wanted.view()).pooled;
    for (std::size_t field = 0; field < fields; ++field) {
      for (auto row = first; row < std::min(first + rows, ids_of(field).size()); ++row) {
        auto const* const weights = pooled.row(row - first).data() + field * dim;
        tables[field].insert(tables[field].end(), weights, weights + dim);
      }
    }
  }
  std::vector<float> all;
  for (auto const& table : tables) {
    all.insert(all.end(), table.begin(), table.end());
  }
  write_values(path, all);
}
