#pragma once

#include <inlay/batch/batch.hpp>
#include <inlay/batch/batch_view.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/exchange/communicator.hpp>
#include <inlay/exchange/send_parts.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// Sends the bags of a batch to the ranks that pool them, field by field. Keeps memory between
/// steps.
class bags_to_owners {
 public:
  /// Sends the bags of `fields_of[rank]` to that rank, and returns the samples of all ranks, ranks
  /// in order, with the fields of this one alone, in the order of its list. No labels, no dense
  /// features; fields are none if the list is empty. Where some ranks have weights, the ids of the
  /// others weigh one. The view lives until the next call; all ranks call it together.
  template <communicator Comm>
  [[nodiscard]] batch_view send(Comm& comm, batch_view const& local,
                                std::vector<std::vector<std::size_t>> const& fields_of,
                                deadline until) {
    expects(fields_of.size() == comm.size(), "every rank needs a list of fields");
    auto const fields = fields_of[comm.rank()].size();
    pack(local, fields_of);
    auto const heads = exchange_heads(comm, local, until);
    std::vector<std::size_t> ids_from;
    rows_.clear();
    for (auto const& one : heads) {
      rows_.push_back(one.rows);
      ids_from.push_back(one.ids);
    }
    send_parts(comm, sizes_.data(), bags_to_, detail::scaled(rows_, fields), 1, until,
               received_sizes_);
    send_parts(comm, ids_.data(), ids_to_, ids_from, 1, until, received_ids_);
    // All ranks have the same heads, so that they agree whether to call this.
    auto const weighs =
        std::any_of(heads.begin(), heads.end(), [](head const& one) { return one.weighs != 0; });
    if (weighs) {
      pack_weights(local, fields_of);
      send_parts(comm, weights_.data(), ids_to_, ids_from, 1, until, received_weights_);
    }
    number_ids(fields);
    gather(fields, received_ids_, all_ids_);
    all_weights_.clear();
    if (weighs) gather(fields, received_weights_, all_weights_);
    return {.rows = detail::total(rows_),
            .fields = fields,
            .offsets = std::as_const(offsets_).view(),
            .ids = std::as_const(all_ids_).view(),
            .weights = std::as_const(all_weights_).view(),
            .dense = {},
            .labels = {}};
  }

  /// Samples of each rank in the last call. // (ranks)
  [[nodiscard]] std::vector<std::size_t> const& rows() const noexcept { return rows_; }

 private:
  /// What a rank says to each before its bags.
  struct head {
    std::uint64_t rows = 0;
    std::uint64_t ids = 0;
    std::uint64_t weighs = 0;  // 1 if its batch has weights
  };

  /// Ids of one field, which lie together.
  [[nodiscard]] static std::size_t first_id(batch_view const& batch, std::size_t field) noexcept {
    return batch.offsets[batch.bag(field, 0)];
  }

  void pack(batch_view const& local, std::vector<std::vector<std::size_t>> const& fields_of) {
    sizes_.clear();
    ids_.clear();
    bags_to_.clear();
    ids_to_.clear();
    for (auto const& fields : fields_of) {
      auto const before = ids_.size();
      for (auto const field : fields) {
        expects(field < local.fields, "a field to send is not in the batch");
        for (auto bag = local.bag(field, 0); bag < local.bag(field, local.rows); ++bag) {
          sizes_.push_back(local.offsets[bag + 1] - local.offsets[bag]);
        }
        append(local.ids, local, field, ids_);
      }
      bags_to_.push_back(fields.size() * local.rows);
      ids_to_.push_back(ids_.size() - before);
    }
  }

  void pack_weights(batch_view const& local,
                    std::vector<std::vector<std::size_t>> const& fields_of) {
    if (local.weights.empty()) return weights_.assign(ids_.size(), 1.0F);
    weights_.clear();
    for (auto const& fields : fields_of) {
      for (auto const field : fields) {
        append(local.weights, local, field, weights_);
      }
    }
  }

  template <class T>
  static void append(span<T const> values, batch_view const& local, std::size_t field,
                     buffer<T>& into) {
    auto const first = first_id(local, field);
    auto const count = first_id(local, field + 1) - first;
    auto const known = into.size();
    into.grow(known + count);
    std::copy_n(values.data() + first, count, into.data() + known);
  }

  template <communicator Comm>
  [[nodiscard]] std::vector<head> exchange_heads(Comm& comm, batch_view const& local,
                                                 deadline until) {
    std::vector<head> mine;
    mine.reserve(ids_to_.size());
    for (auto const ids : ids_to_) {
      mine.push_back({local.rows, ids, local.weights.empty() ? 0U : 1U});
    }
    buffer<head> theirs;
    std::vector<std::size_t> const each(comm.size(), 1);
    send_parts(comm, mine.data(), each, each, 1, until, theirs);
    return {theirs.begin(), theirs.end()};
  }

  /// Offsets of the whole from the sizes of all ranks' bags.
  void number_ids(std::size_t fields) {
    auto const rows = detail::total(rows_);
    auto const bags = fields > 0 ? detail::bags_of(fields, rows) : 0;
    expects(received_ids_.size() <= max_batch_ids, "a batch holds at most 2^32-1 ids");
    offsets_.resize(bags + 1);
    auto const* size = received_sizes_.begin();
    std::size_t row = 0;
    for (auto const of_rank : rows_) {
      for (std::size_t field = 0; field < fields; ++field) {
        std::copy_n(size, of_rank, offsets_.data() + field * rows + row + 1);
        size += of_rank;
      }
      row += of_rank;
    }
    offsets_[0] = 0;
    for (std::size_t bag = 0; bag < bags; ++bag) {
      offsets_[bag + 1] += offsets_[bag];
    }
  }

  /// What came rank by rank, field by field.
  template <class T>
  void gather(std::size_t fields, buffer<T> const& received, buffer<T>& all) const {
    auto const rows = detail::total(rows_);
    all.resize(received.size());
    auto const* from = received.begin();
    std::size_t row = 0;
    for (auto const of_rank : rows_) {
      for (std::size_t field = 0; field < fields; ++field) {
        auto const bag = field * rows + row;
        auto const count = offsets_[bag + of_rank] - offsets_[bag];
        std::copy_n(from, count, all.data() + offsets_[bag]);
        from += count;
      }
      row += of_rank;
    }
  }

  buffer<std::uint32_t> sizes_;  // of bags, by the rank that they go to
  buffer<raw_id> ids_;
  buffer<float> weights_;             // as ids_
  std::vector<std::size_t> bags_to_;  // (ranks)
  std::vector<std::size_t> ids_to_;   // (ranks)
  buffer<std::uint32_t> received_sizes_;
  buffer<raw_id> received_ids_;
  buffer<float> received_weights_;
  std::vector<std::size_t> rows_;  // (ranks)
  buffer<std::uint32_t> offsets_;  // of all ranks' bags
  buffer<raw_id> all_ids_;
  buffer<float> all_weights_;
};

}  // namespace inlay::inline INLAY_ABI
