#pragma once

#include <inlay/batch/batch_view.hpp>
#include <inlay/cache/row_streams.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/one_of.hpp>
#include <inlay/engine/key_log.hpp>
#include <inlay/engine/row_group.hpp>
#include <inlay/engine/shape.hpp>
#include <inlay/optim/row_optimizer.hpp>
#include <inlay/vsid/keys.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// All tables of an engine: a group for every width. A pooled row has the columns of field 0, then
/// those of field 1, and so on, whatever group a field belongs to.
template <class Parts>
class row_groups {
 public:
  /// What a step keeps for every group.
  using work_type = std::vector<group_work<Parts>>;  // one for each group
  /// How rows travel.
  using streams_type = row_streams<typename Parts::exec_type::stream>;

  /// One group for each width among the tables of some fields. A batch has those fields alone, in
  /// their order.
  row_groups(Parts const& parts, shape const& shape, std::vector<std::size_t> const& own) {
    std::vector<std::size_t> widths;
    std::vector<std::vector<field_type>> fields;
    for (std::size_t field = 0; field < own.size(); ++field) {
      auto const table = shape.field_tables[own[field]];
      auto const dim = shape.tables[index(table)].dim;
      auto const known = std::find(widths.begin(), widths.end(), dim);
      auto const group = static_cast<std::size_t>(known - widths.begin());
      if (known == widths.end()) {
        widths.push_back(dim);
        fields.emplace_back();
      }
      fields[group].push_back({field, table, stride_, pooling_of(parts, shape, table)});
      stride_ += dim;
    }
    for (std::size_t group = 0; group < widths.size(); ++group) {
      groups_.emplace_back(parts, shape, widths[group], stride_, std::move(fields[group]));
    }
  }

  [[nodiscard]] std::size_t stride() const noexcept {
    return stride_;
  }  ///< columns of a pooled row
  /// The groups, for whoever does something with each.
  [[nodiscard]] std::vector<row_group<Parts>>& groups() noexcept { return groups_; }

  /// Records the keys of every step from now on, of the tables of one width.
  void attach(key_log& into) {
    expects((std::is_same_v<typename Parts::keys_type, narrow>),
            "a log of keys holds narrow ones only");
    auto const has_width = [&](auto const& group) { return group.dim() == into.dim(); };
    auto const of_width = std::find_if(groups_.begin(), groups_.end(), has_width);
    expects(into.dim() != 0 || groups_.size() <= 1,
            "tables differ in width: say which of them a log of keys is of");
    expects(into.dim() == 0 || of_width != groups_.end(),
            "no table has the width that a log of keys is of");
    logged_ = into.dim() == 0 ? 0 : static_cast<std::size_t>(of_width - groups_.begin());
    key_log_ = &into;
  }

  /// Lists and de-duplicates the ids of a batch.
  void map(Parts const& parts, batch_view const& batch, std::size_t rows_a_chunk,
           work_type& work) const {
    work.resize(groups_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      groups_[g].map(parts, batch, rows_a_chunk, work[g]);
    }
  }

  /// Sends the rows of a mapped step on their way and pins them; if one group fails, all are let
  /// go.
  row_traffic bring(Parts const& parts, streams_type& via, step_id step, work_type& work) {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      groups_[g].rows().expect_room(work[g].brought().size());
    }
    log_keys(work);
    row_traffic traffic;
    std::size_t brought = 0;
    try {
      for (; brought < groups_.size(); ++brought) {
        traffic += groups_[brought].bring(parts.exec, via, step, work[brought]);
      }
    } catch (...) {
      via.wait(via.arrived());
      while (brought-- > 0) {
        groups_[brought].rows().release(work[brought].refs);
      }
      if (key_log_ != nullptr) key_log_->forget_step();
      throw;
    }
    return traffic;
  }

  /// Rows to pooled bags, samples by samples: all groups write to the lines of each. // pooled
  /// (rows, stride)
  void pool(Parts const& parts, work_type const& work, std::size_t rows, float* pooled) const {
    constexpr std::size_t rows_a_piece = 64;
    parts.exec.for_pieces(rows, rows_a_piece, [&](std::size_t first, std::size_t last) {
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        groups_[g].pool(work[g], first, last, pooled);
      }
    });
  }

  /// Takes the memory that an update needs. Throws if a summed gradient is not finite; `greatest`:
  /// of the pooled gradient, by magnitude.
  void prepare_update(Parts const& parts, work_type& work, float const* pooled_gradient,
                      float greatest) const {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      groups_[g].prepare_update(parts.exec, work[g]);
    }
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      groups_[g].require_finite_sums(parts.exec, work[g], pooled_gradient, greatest);
    }
  }

  /// Moves all rows of a step against their summed gradients times `factor`; after
  /// `prepare_update`, so nothing can fail.
  void update(Parts const& parts, work_type& work, float const* pooled_gradient, float factor,
              update_context const& context) const {
    inlay::visit(parts.optimizer, [&](auto const& rule) {
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        groups_[g].update(parts.exec, rule, work[g], pooled_gradient, factor, context);
      }
    });
  }

  /// Brings rows of a width and keeps them in their cache for good.
  row_traffic keep(Parts const& parts, std::size_t dim,
                   span<typename Parts::keys_type::key const> keys, step_id step) {
    row_traffic traffic;
    for (auto& group : groups_) {
      if (group.dim() == dim) traffic += group.keep(parts, keys, step);
    }
    return traffic;
  }

  /// Lets go of the rows of a step.
  void release(work_type& work) noexcept {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      groups_[g].rows().release(work[g].refs);
    }
  }

  /// Pools a batch without creating or moving anything. // pooled (rows, stride)
  void look_up(Parts const& parts, batch_view const& batch, work_type& work, float* pooled) const {
    work.resize(groups_.size());
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      groups_[g].look_up(parts, batch, work[g], pooled);
    }
  }

  /// "id 7 of table C3" for a place in the pooled matrix, in floats; "an empty bag" where no id is.
  [[nodiscard]] std::string describe_bag(work_type const& work, std::size_t place) const {
    for (std::size_t g = 0; g < groups_.size(); ++g) {
      if (auto owner = groups_[g].describe_bag(work[g], place); !owner.empty()) return owner;
    }
    return "an empty bag";
  }

  /// Writes cached rows back to the tables; returns how many.
  std::uint64_t flush(Parts const& parts) {
    std::uint64_t rows = 0;
    for (auto& group : groups_) {
      rows += group.rows().flush(parts.exec);
    }
    return rows;
  }

  /// Rows in all tables.
  [[nodiscard]] std::size_t table_rows() const noexcept {
    std::size_t rows = 0;
    for (auto const& group : groups_) {
      rows += group.rows().store().size();
    }
    return rows;
  }

  /// Keys that an admission has forgotten for want of room.
  [[nodiscard]] std::uint64_t forgotten() const noexcept {
    std::uint64_t keys = 0;
    for (auto const& group : groups_) {
      keys += group.admission().dropped();
    }
    return keys;
  }

  /// Bytes of all tables and caches.
  [[nodiscard]] std::size_t bytes() const noexcept {
    std::size_t all = 0;
    for (auto const& group : groups_) {
      all += group.rows().bytes() + group.admission().bytes();
    }
    return all;
  }

  /// Calls visit(table, id, row) for every row in the tables. // row (dim + state)
  template <class Visit>
  void for_each_row(Visit&& visit) const {
    using keys = typename Parts::keys_type;
    for (auto const& group : groups_) {
      group.rows().store().for_each([&](typename keys::key key, span<float const> row) {
        visit(keys::table(key), keys::id(key), row);
      });
    }
  }

 private:
  using pooling_type = typename Parts::pooling_type;
  using field_type = bag_field<pooling_type>;

  void log_keys(work_type const& work) {
    if constexpr (std::is_same_v<typename Parts::keys_type, narrow>) {
      if (key_log_ == nullptr || work.empty()) return;
      auto const& group = work[logged_];
      if constexpr (moves_keys<Parts>) {  // what a cache here meets, as often as it is used
        buffer<narrow::key> keys;
        for (std::size_t u = 0; u < group.brought().size(); ++u) {
          auto const first = keys.size();
          keys.grow(first + group.counts()[u]);
          std::fill(keys.begin() + first, keys.end(), group.brought()[u]);
        }
        key_log_->add(std::as_const(keys).view());
      } else {
        key_log_->add(group.keys.view());
      }
    }
  }

  [[nodiscard]] static pooling_type pooling_of(Parts const& parts, shape const& shape,
                                               table_id table) {
    auto const& wanted = shape.tables[index(table)].pooling;
    if constexpr (is_one_of<pooling_type>) {
      return wanted.empty() ? parts.pooling : pooling_type::named(wanted);
    } else {
      expects(wanted.empty() || wanted == pooling_type::name,
              "a table names another pooling than parts.pooling, which is no one_of");
      return parts.pooling;
    }
  }

  std::size_t stride_ = 0;
  std::vector<row_group<Parts>> groups_;
  key_log* key_log_ = nullptr;
  std::size_t logged_ = 0;  // the group whose keys it gets
};

}  // namespace inlay::inline INLAY_ABI
