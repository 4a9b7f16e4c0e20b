#pragma once

#include "step_batches.hpp"

#include <inlay/core/buffer.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/prefetch.hpp>
#include <inlay/core/row_math.hpp>
#include <inlay/vsid/hash_mapper.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

/// What no embedding step can do without: to copy the rows of a batch out of a table, and to add
/// their gradients to them. Addresses and the transpose are there beforehand, a row is one piece of
/// memory, and there is no optimizer.
class raw_rows {
 public:
  raw_rows(inlay::batch const& content, std::size_t dim, inlay::host_exec exec)
      : dim_(dim), exec_(std::move(exec)) {
    using key = inlay::narrow::key;
    std::vector<key> keys;  // row by row, as the pooled matrix lies
    for (std::size_t row = 0; row < step_batches::rows; ++row) {
      for (std::size_t field = 0; field < step_batches::fields; ++field) {
        auto const view = content.view();
        auto const id = view.ids[view.offsets[view.bag(field, row)]];
        keys.push_back(inlay::narrow::pack(static_cast<inlay::table_id>(field), id));
      }
    }
    inlay::hash_mapper::workspace<key> work;
    inlay::hash_mapper{}.map(exec_, {keys.data(), keys.size()}, work, plan_);
    // The table is twelve times as large as what a batch reads, and rows lie in no order.
    table_.assign(12 * plan_.size() * dim, 0.5F);
    for (std::size_t v = 0; v < plan_.size(); ++v) {
      rows_.push_back(table_.data() + (v * 7919 % (12 * plan_.size())) * dim);
    }
    pooled_.assign(keys.size() * dim, 0.0F);
    gradient_.assign(keys.size() * dim, 1e-3F);
  }

  void gather_and_scatter() {
    exec_.for_pieces(plan_.virtual_ids.size(), 1024, [&](std::size_t first, std::size_t last) {
      inlay::with_prefetch<16>(
          last - first,
          [&](std::size_t i) { inlay::prefetch_lines(row_of(first + i), dim_ * sizeof(float)); },
          [&](std::size_t i) {
            std::copy_n(row_of(first + i), dim_, pooled_.data() + (first + i) * dim_);
          });
    });
    exec_.for_pieces(plan_.size(), 512, [&](std::size_t first, std::size_t last) {
      inlay::with_prefetch<16>(
          last - first,
          [&](std::size_t i) {
            inlay::prefetch_lines(rows_[first + i], dim_ * sizeof(float));
            auto const at = plan_.occurrences_of(first + i)[0];
            inlay::prefetch_lines(gradient_.data() + at * dim_, dim_ * sizeof(float));
          },
          [&](std::size_t i) {
            for (auto const at : plan_.occurrences_of(first + i)) {
              inlay::add(rows_[first + i], gradient_.data() + at * dim_, dim_);
            }
          });
    });
  }

 private:
  [[nodiscard]] float const* row_of(std::size_t i) const { return rows_[plan_.virtual_ids[i]]; }

  std::size_t dim_;
  inlay::host_exec exec_;
  inlay::id_plan<inlay::narrow::key> plan_;
  inlay::buffer<float*> rows_;
  inlay::buffer<float> table_;
  inlay::buffer<float> pooled_;
  inlay::buffer<float> gradient_;
};
