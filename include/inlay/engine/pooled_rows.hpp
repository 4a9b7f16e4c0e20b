#pragma once

#include <inlay/bag/bag_list.hpp>
#include <inlay/batch/batch_view.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/core/one_of.hpp>
#include <inlay/core/row_math.hpp>
#include <inlay/core/views.hpp>
#include <inlay/engine/ranks.hpp>
#include <inlay/engine/row_groups.hpp>
#include <inlay/engine/shape.hpp>
#include <inlay/engine/step_work.hpp>
#include <inlay/exchange/pooled_columns.hpp>
#include <inlay/optim/row_optimizer.hpp>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// The rows of one among several ranks that own whole tables: it pools those of its tables for the
/// samples of all, and moves them against the pooled gradients of all.
template <class Parts>
class pooled_rows {
 public:
  using work_type = step_work<Parts>;                   ///< the memory of a step
  using ranks_type = ranks<typename Parts::comm_type>;  ///< the others, and itself

  /// Opens tables and caches. All arguments stay the caller's.
  pooled_rows(Parts const& parts, shape const& shape, ranks_type& all)
      : parts_(parts),
        all_(all),
        fields_(fields_of(shape)),
        groups_(parts, shape, pooled_columns(all.comm(), fields_).own_fields()) {}

  /// The tables of this rank.
  [[nodiscard]] row_groups<Parts>& groups() noexcept { return groups_; }
  /// Whether the row is this rank's.
  [[nodiscard]] bool owns(table_id table, typename Parts::keys_type::key) const noexcept {
    return index(table) % all_.comm().size() == all_.comm().rank();
  }
  /// Columns of a pooled row.
  [[nodiscard]] std::size_t stride() const noexcept {
    return fields_.back().column + fields_.back().dim;
  }
  /// Prepares memory that is new.
  void adopt(work_type& work) const {
    work.stride = stride();
    work.between.bags.emplace(all_.comm(), fields_);
  }

  /// Throws if an id of a batch does not fit into a key: its owner would not know whose it was.
  void list(work_type&, batch_view const& batch) const {
    using keys = typename Parts::keys_type;
    for (std::size_t field = 0; field < batch.fields; ++field) {
      auto const end = batch.offsets[batch.bag(field, 0) + batch.rows];
      for (auto i = batch.offsets[batch.bag(field, 0)]; i < end; ++i) {
        if (!keys::holds(fields_[field].table, batch.ids[i])) [[unlikely]] {
          detail::refuse_id<keys>(batch, field, fields_[field].table, i);
        }
      }
    }
  }

  /// Sends bags to the owners of their tables. Together with the others.
  void request(work_type& work, batch_view const& batch) {
    work.between.all = work.between.bags->request(all_.comm(), batch, all_.until());
  }

  /// Lists the ids of all ranks' samples in its own tables; on any thread.
  void map(work_type& work, batch_view const&) {
    auto const& all = work.between.all;
    if (all.fields == 0) return;
    auto const chunk =
        inlay::visit(parts_.sums, [&](auto const& sums) { return sums.rows_a_chunk(all.rows); });
    groups_.map(parts_, all, chunk, work.groups);
  }

  /// Pools for all, and gets what the others have pooled. Together with the others.
  void pool(work_type& work) {
    auto& own = work.between.pooled;
    own.resize(work.between.all.rows * groups_.stride());
    if (groups_.stride() > 0) {
      groups_.pool(parts_, work.groups, work.between.all.rows, own.data());
    }
    spread(work);
  }

  /// Brings the pooled gradients of its own tables. Throws if a sum is not finite. Together with
  /// the others.
  void prepare_update(work_type& work, float) {
    auto& own = work.between.gradient;
    work.between.bags->gradients(all_.comm(),
                                 {std::as_const(work.pooled_gradient).data(), work.rows, stride()},
                                 all_.until(), own);
    groups_.prepare_update(parts_, work.groups, own.data(),
                           greatest_magnitude(own.data(), own.size()));
  }

  /// Moves the rows of its tables; can't fail.
  void update(work_type& work, float factor, update_context const& context) {
    groups_.update(parts_, work.groups, work.between.gradient.data(), factor, context);
  }

  /// Pools a batch without creating or moving anything. Together with the others.
  void look_up(work_type& work, batch_view const& batch) {
    auto& all = work.between.all;
    all = work.between.bags->request(all_.comm(), batch, all_.until());
    work.between.pooled.resize(all.rows * groups_.stride());
    if (all.fields > 0) {
      groups_.look_up(parts_, all, work.groups, work.between.pooled.data());
    }
    spread(work);
  }

  /// "field 7" for a place in a step's pooled matrix.
  [[nodiscard]] std::string describe_bag(work_type const&, std::size_t place) const {
    auto const column = place % stride();
    std::size_t field = 0;
    while (fields_[field].column + fields_[field].dim <= column) {
      ++field;
    }
    return "a bag of field " + std::to_string(field);
  }

 private:
  [[nodiscard]] static std::vector<pooled_field> fields_of(shape const& shape) {
    std::vector<pooled_field> fields;
    std::size_t column = 0;
    for (auto const table : shape.field_tables) {
      auto const dim = shape.tables[index(table)].dim;
      fields.push_back({table, column, dim});
      column += dim;
    }
    return fields;
  }

  void spread(work_type& work) {
    work.between.bags->columns(
        all_.comm(),
        {std::as_const(work.between.pooled).data(), work.between.all.rows, groups_.stride()},
        all_.until(), {work.pooled.data(), work.rows, stride()});
  }

  Parts const& parts_;
  ranks_type& all_;
  std::vector<pooled_field> fields_;
  row_groups<Parts> groups_;
};

}  // namespace inlay::inline INLAY_ABI
