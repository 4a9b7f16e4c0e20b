#pragma once

#include <inlay/batch/batch_view.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/core/views.hpp>
#include <inlay/exchange/bags_to_owners.hpp>
#include <inlay/exchange/communicator.hpp>
#include <inlay/exchange/send_parts.hpp>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// A field as the exchange of pooled columns sees it.
struct pooled_field {
  table_id table{};        ///< that it reads
  std::size_t column = 0;  ///< where its pooled row begins within a sample's
  std::size_t dim = 0;     ///< columns of its table
};

/// Whole tables on one rank each, table t on rank t mod ranks, and the owner pools: bags go to the
/// owners, pooled columns come back, and their gradients go as the bags did. No row of a table
/// travels; what does grows with the samples, however many share an id. Keeps memory between steps.
/// All ranks call the same functions in the same order; one without samples takes part, as does one
/// without a table.
class pooled_columns {
 public:
  /// Of all fields, the same on all ranks; their columns don't overlap.
  template <communicator Comm>
  pooled_columns(Comm const& comm, std::vector<pooled_field> fields)
      : rank_(comm.rank()),
        fields_(std::move(fields)),
        fields_of_(comm.size()),
        widths_(comm.size()) {
    for (std::size_t field = 0; field < fields_.size(); ++field) {
      auto const owner = index(fields_[field].table) % comm.size();
      fields_of_[owner].push_back(field);
      widths_[owner] += fields_[field].dim;
    }
  }

  /// Fields whose tables this rank owns, ascending: those of the batch that it pools.
  [[nodiscard]] std::vector<std::size_t> const& own_fields() const noexcept {
    return fields_of_[rank_];
  }
  /// Columns of the own fields, side by side in their order.
  [[nodiscard]] std::size_t own_width() const noexcept { return widths_[rank_]; }
  /// Samples of each rank in the last request. // (ranks)
  [[nodiscard]] std::vector<std::size_t> const& rows() const noexcept { return bags_.rows(); }

  /// Sends the bags to the owners of their tables; returns the samples of all ranks, ranks in
  /// order, with the own fields alone, see `bags_to_owners`.
  template <communicator Comm>
  [[nodiscard]] batch_view request(Comm& comm, batch_view const& local, deadline until) {
    expects(local.fields == fields_.size(), "a batch needs the fields that are exchanged");
    return bags_.send(comm, local, fields_of_, until);
  }

  /// Sends each rank the pooled columns of its samples, which it puts where its fields begin; other
  /// columns stay as they are. // pooled (samples of all ranks, own_width), local (samples, stride)
  template <communicator Comm>
  void columns(Comm& comm, matrix_view<float const> pooled, deadline until,
               matrix_view<float> local) {
    check_local(local.rows, local.cols);
    expects(pooled.rows == detail::total(rows()) && pooled.cols == own_width() &&
                (pooled.stride == pooled.cols || pooled.rows < 2),
            "pooled columns need a row for each sample of the last request, without gaps");
    send_parts(comm, pooled.data, to_samples(), to_owners(), 1, until, received_);
    auto const* from = std::as_const(received_).begin();
    for_own_columns([&](std::size_t row, pooled_field const& field) {
      std::copy_n(from, field.dim, local.data + row * local.stride + field.column);
      from += field.dim;
    });
  }

  /// The adjoint of `columns`: sends the owners the gradients of their columns. // local (samples,
  /// stride), own (samples of all ranks, own_width)
  template <communicator Comm>
  void gradients(Comm& comm, matrix_view<float const> local, deadline until, buffer<float>& own) {
    check_local(local.rows, local.cols);
    packed_.resize(detail::total(to_owners()));
    auto* into = packed_.begin();
    for_own_columns([&](std::size_t row, pooled_field const& field) {
      into = std::copy_n(local.data + row * local.stride + field.column, field.dim, into);
    });
    send_parts(comm, packed_.data(), to_owners(), to_samples(), 1, until, own);
  }

 private:
  /// Calls visit(row, field) for all columns of this rank's samples, as they lie on the way: owner
  /// by owner, then row by row.
  template <class Visit>
  void for_own_columns(Visit const& visit) const {
    for (auto const& fields : fields_of_) {
      for (std::size_t row = 0; row < rows()[rank_]; ++row) {
        for (auto const field : fields) {
          visit(row, fields_[field]);
        }
      }
    }
  }

  /// Floats between this rank and each: of the samples there and its own fields.
  [[nodiscard]] std::vector<std::size_t> to_samples() const {
    return detail::scaled(rows(), own_width());
  }
  /// Of its own samples and the fields there.
  [[nodiscard]] std::vector<std::size_t> to_owners() const {
    return detail::scaled(widths_, rows()[rank_]);
  }

  void check_local(std::size_t rows_here, std::size_t cols) const {
    expects(rows().size() == widths_.size(), "columns are exchanged after a request");
    expects(rows_here == rows()[rank_], "a rank has as many samples as it has requested");
    expects(std::all_of(fields_.begin(), fields_.end(),
                        [&](auto const& field) { return field.column + field.dim <= cols; }),
            "pooled columns don't fit into a sample's");
  }

  std::size_t rank_;
  std::vector<pooled_field> fields_;
  std::vector<std::vector<std::size_t>> fields_of_;  // (ranks)
  std::vector<std::size_t> widths_;                  // (ranks)
  bags_to_owners bags_;
  buffer<float> packed_;    // (samples, columns of all fields), by owner
  buffer<float> received_;  // as packed_
};

}  // namespace inlay::inline INLAY_ABI
