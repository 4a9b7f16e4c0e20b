#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/one_of.hpp>
#include <inlay/core/row_math.hpp>
#include <inlay/core/views.hpp>
#include <inlay/engine/dense_parameters.hpp>
#include <inlay/engine/failure_of.hpp>
#include <inlay/engine/progress.hpp>
#include <inlay/engine/ranks.hpp>
#include <inlay/engine/row_stage.hpp>
#include <inlay/engine/shape.hpp>
#include <inlay/engine/shared_sums.hpp>
#include <inlay/engine/stage.hpp>
#include <inlay/engine/step_work.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>

namespace inlay::inline INLAY_ABI {

/// Keeps the gradients that the chunks of a step give back, and moves rows and attached parameters
/// against their sums: all of them, or none.
template <class Parts>
class gradient_stage {
 public:
  /// The memory of a step.
  using work_type = step_work<Parts>;

  /// All arguments stay the caller's.
  gradient_stage(Parts const& parts, shape const& shape, row_stage<Parts>& rows)
      : parts_(parts), shape_(shape), rows_(rows) {}

  /// The parameters beside the rows.
  [[nodiscard]] dense_parameters<typename Parts::optimizer_type>& dense() noexcept {
    return dense_;
  }
  /// The parameters beside the rows.
  [[nodiscard]] dense_parameters<typename Parts::optimizer_type> const& dense() const noexcept {
    return dense_;
  }

  /// Keeps what a chunk gives back; chunks may come side by side. A value that is not finite is an
  /// error that names the table and id that it would reach.
  void keep(work_type& work, step_id step, std::size_t chunk,
            matrix_view<float const> pooled_gradient,
            span<matrix_view<float const> const> parameter_gradients) const {
    work.came_back[chunk] = 0;
    if (auto const place = work.keep(chunk, pooled_gradient); place != work_type::all_finite) {
      fail("the gradient of " + rows_.describe_bag(work, place) + " is not finite (row " +
           std::to_string(place / work.stride) + " of the batch, column " +
           std::to_string(place % work.stride) + ", step " + std::to_string(number(step)) + ")");
    }
    dense_.keep(parameter_gradients, work.dense_gradients.data() + chunk * dense_.size());
    work.came_back[chunk] = 1;
  }

  /// Moves everything; or throws, has moved nothing, and forgets what the chunks gave, some of
  /// which has been added up by then. Together with other ranks, if there are any.
  void apply(work_type& work, progress& at) {
    try {
      rows_.all().agree(rank_call::finish, work.number, failure_of([&] { require_all(work); }));
      if (work.global_rows > 0) update(work, at);
    } catch (...) {
      std::fill(work.came_back.begin(), work.came_back.end(), std::uint8_t{0});
      throw;
    }
  }

 private:
  static void require_all(work_type const& work) {
    for (std::size_t number = 0; number < work.chunks; ++number) {
      if (work.came_back[number] == 0) {
        fail("chunk " + std::to_string(number) + " of the step had no backward");
      }
    }
  }

  /// A step is applied as a whole or not at all: whatever may throw comes before anything moves.
  void update(work_type& work, progress& at) {
    auto const& exec = parts_.exec;
    auto const factor = 1.0F / static_cast<float>(work.global_rows);
    auto const rate = inlay::visit(
        parts_.schedule, [&](auto const& schedule) { return schedule.factor(at.samples); });
    auto* const dense_sums = work.dense_gradients.data();
    double excess = 0.0;
    auto const failure = failure_of([&] {
      {
        auto const timer = at.timed(stage::dense);
        sum_dense(work);
        dense_.scale_sums(exec, dense_sums, factor);
        excess = dense_.clip(exec, dense_sums, shape_.dense_clip_norm);
      }
      auto const timer = at.timed(stage::update);
      rows_.prepare_update(work, greatest_magnitude(work.greatest.data(), work.chunks));
    });
    rows_.all().agree(rank_call::apply, work.number, failure);
    {
      auto const timer = at.timed(stage::update);
      rows_.update(work, factor, {.step = at.step, .rate_factor = rate});
    }
    auto const timer = at.timed(stage::dense);
    dense_.apply(exec, parts_.optimizer, dense_sums,
                 {.step = at.step, .rate_factor = rate * shape_.dense_learning_rate_factor});
    if (excess > 0.0) ++at.figures.clipped_steps;
  }

  /// The gradients of all chunks, of all ranks, added up where those of the first one were.
  void sum_dense(work_type& work) {
    auto* const gradients = work.dense_gradients.data();
    if (work.chunks == 0) std::fill_n(gradients, dense_.size(), 0.0F);
    if constexpr (row_stage<Parts>::ranks_type::alone) {
      dense_.add_up(parts_.exec, gradients, work.chunks);
    } else if (dense_.size() > 0 && work.padded) {
      auto const nodes_of = work.nodes_of_ranks();
      auto const& own = nodes_of[rows_.all().comm().rank()];
      for (std::size_t node = 0; node < own.size(); ++node) {
        auto const first = own[node] - work.first_chunk;
        auto const last = node + 1 < own.size() ? own[node + 1] - work.first_chunk : work.chunks;
        dense_.add_up(parts_.exec, gradients + first * dense_.size(), last - first);
        std::copy_n(gradients + first * dense_.size(), dense_.size(),
                    gradients + node * dense_.size());
      }
      shared_.along_tree(rows_.all(), parts_.exec, nodes_of, gradients, dense_.size(), gradients);
    } else if (dense_.size() > 0) {
      dense_.add_up(parts_.exec, gradients, work.chunks);
      rows_.all().comm().all_reduce({gradients, dense_.size()}).wait(rows_.all().until());
    }
  }

  Parts const& parts_;
  shape const& shape_;
  row_stage<Parts>& rows_;
  dense_parameters<typename Parts::optimizer_type> dense_;
  shared_sums shared_;
};

}  // namespace inlay::inline INLAY_ABI
