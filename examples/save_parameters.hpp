#pragma once

#include "output_file.hpp"

#include <inlay/core/ids.hpp>
#include <inlay/core/views.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

/// Rows of one engine or of several ranks' engines, on their way to a file.
class saved_rows {
 public:
  /// Copies the rows of an engine.
  template <class Trainer>
  void add(Trainer& trainer) {
    trainer.flush();
    trainer.for_each_row(
        [&](inlay::table_id table, inlay::raw_id id, inlay::span<float const> row) {
          rows_.push_back({{inlay::index(table), id}, {row.begin(), row.end()}});
        });
  }

  /// Writes rows by table and id (two 64-bit words, then weights and state as float32), then the
  /// dense parameters: the same parameters give the same bytes, whatever order they were made in
  /// and whoever had them.
  void write(inlay::span<inlay::matrix_view<float> const> dense, output_file& into) {
    std::sort(rows_.begin(), rows_.end(),
              [](auto const& left, auto const& right) { return left.first < right.first; });
    auto const put = [&](auto const* data, std::size_t count) {
      into.stream().write(reinterpret_cast<char const*>(data),
                          static_cast<std::streamsize>(count * sizeof(*data)));
    };
    for (auto const& [key, row] : rows_) {
      put(&key.first, 1);
      put(&key.second, 1);
      put(row.data(), row.size());
    }
    for (auto const& tensor : dense) {
      for (std::size_t row = 0; row < tensor.rows; ++row) {
        put(tensor.row(row).data(), tensor.cols);
      }
    }
    into.close();
  }

 private:
  using name = std::pair<std::uint64_t, std::uint64_t>;  // table, id

  std::vector<std::pair<name, std::vector<float>>> rows_;
};
