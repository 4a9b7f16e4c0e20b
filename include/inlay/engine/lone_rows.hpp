#pragma once

#include <inlay/batch/batch_view.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/engine/ranks.hpp>
#include <inlay/engine/row_groups.hpp>
#include <inlay/engine/shape.hpp>
#include <inlay/engine/step_work.hpp>
#include <inlay/optim/row_optimizer.hpp>

#include <cstddef>
#include <numeric>
#include <string>
#include <vector>

namespace inlay::inline INLAY_ABI {

namespace detail {

[[nodiscard]] inline std::vector<std::size_t> all_fields(shape const& shape) {
  std::vector<std::size_t> fields(shape.field_tables.size());
  std::iota(fields.begin(), fields.end(), std::size_t{0});
  return fields;
}

}  // namespace detail

/// The rows of an engine that is alone: all are its own. `keyed_rows` and `pooled_rows` are those
/// of one among several ranks; all do the same for `row_stage`.
template <class Parts>
class lone_rows {
 public:
  using work_type = step_work<Parts>;                   ///< the memory of a step
  using ranks_type = ranks<typename Parts::comm_type>;  ///< whom it meets: nobody

  /// Opens tables and caches. All arguments stay the caller's.
  lone_rows(Parts const& parts, shape const& shape, ranks_type&)
      : parts_(parts), groups_(parts, shape, detail::all_fields(shape)) {}

  /// The tables of this rank.
  [[nodiscard]] row_groups<Parts>& groups() noexcept { return groups_; }
  /// Whether the row is this rank's: all are.
  [[nodiscard]] bool owns(table_id, typename Parts::keys_type::key) const noexcept { return true; }
  /// Columns of a pooled row.
  [[nodiscard]] std::size_t stride() const noexcept { return groups_.stride(); }
  /// Prepares memory that is new.
  void adopt(work_type& work) const { work.stride = stride(); }

  /// Lists the ids of a batch; on any thread.
  void map(work_type& work, batch_view const& batch) {
    groups_.map(parts_, batch, work.summed_rows, work.groups);
  }

  /// Rows to pooled bags.
  void pool(work_type& work) { groups_.pool(parts_, work.groups, work.rows, work.pooled.data()); }

  /// Takes memory; throws if a gradient is not finite.
  void prepare_update(work_type& work, float greatest) {
    groups_.prepare_update(parts_, work.groups, work.pooled_gradient.data(), greatest);
  }

  /// Moves the rows; can't fail.
  void update(work_type& work, float factor, update_context const& context) {
    groups_.update(parts_, work.groups, work.pooled_gradient.data(), factor, context);
  }

  /// Pools a batch without creating or moving anything.
  void look_up(work_type& work, batch_view const& batch) {
    groups_.look_up(parts_, batch, work.groups, work.pooled.data());
  }

  /// "id 7 of table C3" for a place in a step's pooled matrix.
  [[nodiscard]] std::string describe_bag(work_type const& work, std::size_t place) const {
    return groups_.describe_bag(work.groups, place);
  }

 private:
  Parts const& parts_;
  row_groups<Parts> groups_;
};

}  // namespace inlay::inline INLAY_ABI
