#pragma once

#include <inlay/batch/batch_view.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/dyadic_nodes.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/row_math.hpp>
#include <inlay/core/views.hpp>
#include <inlay/engine/batch_ids.hpp>
#include <inlay/engine/job_thread.hpp>
#include <inlay/engine/ranks.hpp>
#include <inlay/engine/report.hpp>
#include <inlay/engine/row_groups.hpp>
#include <inlay/engine/trace.hpp>
#include <inlay/exchange/pooled_all_to_all.hpp>
#include <inlay/exchange/pooled_columns.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace inlay::inline INLAY_ABI {

namespace detail {

/// What a step keeps where whole tables are on one rank each.
struct bags_between_ranks {
  std::optional<pooled_columns> bags;
  batch_view all;          // the samples of all ranks, with the own fields alone
  buffer<float> pooled;    // (samples of all ranks, columns of the own fields)
  buffer<float> gradient;  // as pooled
};

}  // namespace detail

/// Whether whole tables are on one rank each.
template <class Parts>
inline constexpr bool moves_bags = !ranks<typename Parts::comm_type>::alone &&
                                   std::is_same_v<typename Parts::exchange_type, pooled_all_to_all>;

/// The memory of one step, from the moment that its rows are sent for: what the user's network
/// reads, and what it gives back.
///
/// A chunk is what the network sees at a time. Under `fixed_sums` it is 128 rows, the last one
/// padded with rows of weight zero; under `fast_sums` the batch is cut into as many chunks as there
/// are threads.
template <class Parts>
struct step_work {
  std::int64_t number = 0;      ///< of its plan, among all
  std::size_t summed_rows = 1;  ///< whose gradients are summed as one chunk
  batch_ids ids;                ///< where its rows are brought ahead
  job_thread::job bringing;     ///< its rows
  job_thread::job releasing;    ///< its rows
  void* stage = nullptr;        ///< the `row_stage` whose jobs they are
  std::exception_ptr failure;   ///< of bringing them
  report opened;                ///< what bringing them took
  typename row_groups<Parts>::streams_type::event arrived{};  ///< when all are there
  std::uint64_t global_rows = 0;                              ///< samples of all ranks
  std::uint32_t first_chunk = 0;             ///< the number of its first one among all ranks'
  std::vector<std::uint64_t> rows_of_ranks;  ///< samples of each
  /// Where bags of several ranks meet.
  std::conditional_t<moves_bags<Parts>, detail::bags_between_ranks, detail::nothing> between;
  trace::time began;                             ///< when somebody first waited for it
  bool padded = false;                           ///< whether every chunk has chunk_rows rows
  std::size_t rows = 0;                          ///< samples
  std::size_t chunk_rows = 1;                    ///< of every chunk but perhaps the last
  std::size_t chunks = 0;                        ///< that the network sees
  std::size_t stride = 0;                        ///< columns of a pooled row
  std::size_t dense_width = 0;                   ///< dense features
  typename row_groups<Parts>::work_type groups;  ///< by width
  buffer<float> pooled;                          // (padded rows, stride)
  buffer<float> pooled_gradient;                 // (padded rows, stride)
  buffer<float> dense;                           // (padded rows, dense_width)
  buffer<float> labels;                          // (padded rows)
  buffer<float> weights;           // (padded rows) where padded: one for a sample, zero behind
  buffer<float> dense_gradients;   // (chunks, attached floats)
  buffer<std::uint8_t> came_back;  // (chunks), whether the chunk's gradients are here
  buffer<float> greatest;          // (chunks), the greatest pooled gradient by magnitude

  /// Learns how many samples each rank has, and where its own chunks are among all; throws on all
  /// ranks if one has failed.
  template <class Ranks>
  void meet(Ranks& all, std::size_t own_rows, std::exception_ptr const& own_failure) {
    rows_of_ranks = all.gather(rank_call::prefetch, number, own_rows, own_failure);
    require_whole_chunks();
    global_rows = 0;
    std::uint64_t chunks_before = 0;
    for (std::size_t rank = 0; rank < rows_of_ranks.size(); ++rank) {
      global_rows += rows_of_ranks[rank];
      if (rank < all.comm().rank()) chunks_before += chunks_of(rows_of_ranks[rank]);
    }
    first_chunk = static_cast<std::uint32_t>(chunks_before);
    nodes_.clear();
    if (padded) {
      dyadic_nodes(first_chunk, first_chunk + static_cast<std::uint32_t>(chunks), nodes_);
    }
  }

  /// Throws on all ranks if chunks would be others on another number of ranks.
  void require_whole_chunks() const {
    bool ended = false;
    for (std::size_t rank = 0; rank < rows_of_ranks.size() && padded; ++rank) {
      if (ended && rows_of_ranks[rank] > 0) {
        fail("under fixed_sums only the last rank that has samples may have other than a multiple "
             "of " +
             std::to_string(summed_rows) + " of them; rank " + std::to_string(rank - 1) + " has " +
             std::to_string(rows_of_ranks[rank - 1]));
      }
      ended = ended || rows_of_ranks[rank] % summed_rows != 0;
    }
  }

  /// The nodes of the tree over all ranks' chunks that its own are made of, each by its first
  /// chunk; none where chunks are not added along a tree.
  [[nodiscard]] span<std::uint32_t const> nodes() const noexcept { return nodes_.view(); }

  /// The same of each rank.
  [[nodiscard]] std::vector<buffer<std::uint32_t>> nodes_of_ranks() const {
    std::vector<buffer<std::uint32_t>> nodes(rows_of_ranks.size());
    std::uint32_t first = 0;
    for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
      auto const last = first + static_cast<std::uint32_t>(chunks_of(rows_of_ranks[rank]));
      dyadic_nodes(first, last, nodes[rank]);
      first = last;
    }
    return nodes;
  }

  /// Chunks of so many rows, where they are padded.
  [[nodiscard]] std::uint64_t chunks_of(std::uint64_t count) const noexcept {
    return (count + summed_rows - 1) / summed_rows;
  }

  /// Cuts the batch into chunks and copies what the network reads beside pooled rows, so that the
  /// caller's memory is free once the step has begun.
  template <class Sums>
  void take(batch_view const& batch, Sums const& sums, std::size_t threads, std::size_t attached) {
    rows = batch.rows;
    global_rows = rows;
    summed_rows = sums.rows_a_chunk(rows);
    padded = sums.pads_chunks;
    chunk_rows = padded ? summed_rows : std::max<std::size_t>(1, (rows + threads - 1) / threads);
    chunks = (rows + chunk_rows - 1) / chunk_rows;
    auto const held = padded_rows();
    pooled.resize(held * stride);
    std::fill(pooled.begin() + rows * stride, pooled.end(), 0.0F);
    pooled_gradient.resize(held * stride);
    dense_width = batch.dense.cols;
    dense.assign(held * dense_width, 0.0F);
    for (std::size_t row = 0; row < rows && dense_width > 0; ++row) {
      std::copy_n(batch.dense.row(row).data(), dense_width, dense.data() + row * dense_width);
    }
    labels.assign(held, 0.0F);
    std::copy(batch.labels.begin(), batch.labels.end(), labels.begin());
    weights.assign(padded ? held : 0, 1.0F);
    std::fill(weights.begin() + (padded ? rows : 0), weights.end(), 0.0F);
    dense_gradients.resize(std::max<std::size_t>(chunks, 1) * attached);
    std::fill_n(dense_gradients.begin(), chunks == 0 ? attached : 0, 0.0F);
    came_back.assign(chunks, 0);
    greatest.assign(chunks, 0.0F);
  }

  /// What `keep` answers when all is well.
  static constexpr std::size_t all_finite = ~std::size_t{0};

  /// Copies the gradient of a chunk's pooled rows, unless it was written where it belongs. Answers
  /// the place, in floats, of the first value that is not finite, if there is one. Throws if the
  /// shape is wrong, or a padding row has a gradient.
  [[nodiscard]] std::size_t keep(std::size_t chunk, matrix_view<float const> gradient) {
    auto const [first, last] = rows_of(chunk);
    if (gradient.rows != last - first || gradient.cols != stride || gradient.data == nullptr) {
      fail("the pooled embeddings of chunk " + std::to_string(chunk) + " are " +
           std::to_string(last - first) + " x " + std::to_string(stride) +
           ", and their gradient is " + std::to_string(gradient.rows) + " x " +
           std::to_string(gradient.cols));
    }
    greatest[chunk] = 0.0F;
    for (auto row = first; row < last; ++row) {
      auto* const into = pooled_gradient.data() + row * stride;
      auto const* const from = gradient.row(row - first).data();
      if (from != into) std::copy_n(from, stride, into);
      auto const size = greatest_magnitude(into, stride);
      expects(row < rows || size == 0.0F,
              "a padding row has a gradient: weigh the loss by chunk.labels().weights");
      if (!std::isfinite(size)) [[unlikely]] {
        auto const* const broken =
            std::find_if_not(into, into + stride, [](float value) { return std::isfinite(value); });
        return static_cast<std::size_t>(broken - pooled_gradient.data());
      }
      greatest[chunk] = std::max(greatest[chunk], size);
    }
    return all_finite;
  }

  /// Rows of all chunks together.
  [[nodiscard]] std::size_t padded_rows() const noexcept {
    return padded ? chunks * chunk_rows : rows;
  }

  /// The rows of a chunk.
  [[nodiscard]] sample_range rows_of(std::size_t chunk) const noexcept {
    auto const first = chunk * chunk_rows;
    return {first, padded ? first + chunk_rows : std::min(first + chunk_rows, rows)};
  }

 private:
  buffer<std::uint32_t> nodes_;
};

}  // namespace inlay::inline INLAY_ABI
