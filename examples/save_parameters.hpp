#pragma once

#include "output_file.hpp"

#include <inlay/core/ids.hpp>
#include <inlay/core/views.hpp>

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

/// Writes rows by table and id (two 64-bit words, then weights and state as float32), then the
/// dense parameters: the same parameters give the same bytes, whatever order they were made in.
template <class Trainer>
void save_parameters(Trainer& trainer, inlay::span<inlay::matrix_view<float> const> dense,
                     output_file& into) {
  trainer.flush();
  std::vector<std::pair<std::pair<std::uint64_t, std::uint64_t>, inlay::span<float const>>> rows;
  trainer.for_each_row([&](inlay::table_id table, inlay::raw_id id, inlay::span<float const> row) {
    rows.push_back({{inlay::index(table), id}, row});
  });
  std::sort(rows.begin(), rows.end(),
            [](auto const& left, auto const& right) { return left.first < right.first; });

  auto const write = [&](auto const* data, std::size_t count) {
    into.stream().write(reinterpret_cast<char const*>(data),
                        static_cast<std::streamsize>(count * sizeof(*data)));
  };
  for (auto const& [name, row] : rows) {
    write(&name.first, 1);
    write(&name.second, 1);
    write(row.data(), row.size());
  }
  for (auto const& tensor : dense) {
    for (std::size_t row = 0; row < tensor.rows; ++row) {
      write(tensor.row(row).data(), tensor.cols);
    }
  }
  into.close();
}
