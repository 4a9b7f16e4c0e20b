#pragma once

#include <inlay/batch/batch_view.hpp>
#include <inlay/core/hash.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/core/sums.hpp>
#include <inlay/core/views.hpp>
#include <inlay/engine/lone_rows.hpp>
#include <inlay/engine/ranks.hpp>
#include <inlay/engine/row_groups.hpp>
#include <inlay/engine/shape.hpp>
#include <inlay/engine/step_work.hpp>
#include <inlay/exchange/gradient_partials.hpp>
#include <inlay/exchange/owner_of.hpp>
#include <inlay/optim/row_optimizer.hpp>

#include <cstddef>
#include <string>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// The rows of one among several ranks that own them by key: a rank brings those that it owns of
/// all that are used, gives them to those who use them when their step begins, and moves them
/// against the gradients of all.
template <class Parts>
class keyed_rows {
 public:
  using work_type = step_work<Parts>;                   ///< the memory of a step
  using ranks_type = ranks<typename Parts::comm_type>;  ///< the others, and itself

  /// Opens tables and caches. All arguments stay the caller's.
  keyed_rows(Parts const& parts, shape const& shape, ranks_type& all)
      : parts_(parts), all_(all), groups_(parts, shape, detail::all_fields(shape)) {}

  /// The rows of this rank.
  [[nodiscard]] row_groups<Parts>& groups() noexcept { return groups_; }
  /// Whether the row is this rank's.
  [[nodiscard]] bool owns(table_id, typename Parts::keys_type::key key) const noexcept {
    return owner_of(hash(key), all_.comm().size()) == all_.comm().rank();
  }
  /// Columns of a pooled row.
  [[nodiscard]] std::size_t stride() const noexcept { return groups_.stride(); }
  /// Prepares memory that is new.
  void adopt(work_type& work) const { work.stride = stride(); }

  /// Lists the ids of a batch.
  void list(work_type& work, batch_view const& batch) {
    groups_.map(parts_, batch, work.summed_rows, work.groups);
  }

  /// Tells the owners of the ids that were listed. Together with the others.
  void request(work_type& work, batch_view const&) {
    for_groups(work, [&](auto&, auto& group) {
      group.bags.first_chunk = work.first_chunk;
      group.between.request(all_.comm(), parts_.exec, parts_.exchange, group.plan, all_.until());
    });
  }

  /// Nothing: ids are listed before the owners are told.
  void map(work_type&, batch_view const&) {}

  /// Gives rows out, and pools those that it got. Together with the others.
  void pool(work_type& work) {
    for_groups(work, [&](auto const& rows, auto& group) {
      group.between.hand_out(all_.comm(), parts_.exec, group.rows(), rows.dim(), group.plan.size(),
                             all_.until());
    });
    groups_.pool(parts_, work.groups, work.rows, work.pooled.data());
  }

  /// Brings the summed gradients of the rows that it owns. Throws if one is not finite. Together
  /// with the others.
  void prepare_update(work_type& work, float) {
    auto const order = work.padded ? sum_order::along_tree : sum_order::by_rank;
    for_groups(work, [&](auto const& rows, auto& group) {
      rows.prepare_update(parts_.exec, group);
      group.between.sum_shares(parts_.exec, group.bags, group.plan, work.pooled_gradient.data(),
                               rows.dim(), group.gradient_places.view(), work.nodes(),
                               group.memory);
    });
    for_groups(work, [&](auto const& rows, auto& group) {
      group.between.collect(all_.comm(), parts_.exec, rows.dim(), order, all_.until());
    });
    for_groups(work, [&](auto const& rows, auto& group) {
      rows.require_finite(parts_.exec, group, [&](auto const&) {
        return summed_gradients(group.between.sums().data(), rows.dim());
      });
    });
  }

  /// Moves the rows that it owns; can't fail.
  void update(work_type& work, float factor, update_context const& context) {
    groups_.update(parts_, work.groups, work.pooled_gradient.data(), factor, context);
  }

  /// Pools a batch that was listed, without creating or moving anything. Together with the others.
  void look_up(work_type& work, batch_view const&) {
    for_groups(work, [&](auto const& rows, auto& group) {
      group.between.request(all_.comm(), parts_.exec, parts_.exchange, group.plan, all_.until());
      rows.peek(group.brought(), group.peeked);
      group.between.hand_out(all_.comm(), parts_.exec, std::as_const(group.peeked.rows).view(),
                             rows.dim(), group.plan.size(), all_.until());
    });
    groups_.pool(parts_, work.groups, work.rows, work.pooled.data());
  }

  /// "id 7 of table C3" for a place in a step's pooled matrix.
  [[nodiscard]] std::string describe_bag(work_type const& work, std::size_t place) const {
    return groups_.describe_bag(work.groups, place);
  }

 private:
  template <class Visit>
  void for_groups(work_type& work, Visit const& visit) {
    for (std::size_t g = 0; g < work.groups.size(); ++g) {
      visit(groups_.groups()[g], work.groups[g]);
    }
  }

  Parts const& parts_;
  ranks_type& all_;
  row_groups<Parts> groups_;
};

}  // namespace inlay::inline INLAY_ABI
