#pragma once

#include <inlay/batch/batch.hpp>
#include <inlay/batch/batch_view.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/row_math.hpp>
#include <inlay/engine/dense_parameters.hpp>
#include <inlay/engine/key_log.hpp>
#include <inlay/engine/looked_up.hpp>
#include <inlay/engine/part_checks.hpp>
#include <inlay/engine/parts.hpp>
#include <inlay/engine/report.hpp>
#include <inlay/engine/row_groups.hpp>
#include <inlay/engine/sample_stream.hpp>
#include <inlay/engine/shape.hpp>
#include <inlay/engine/stage.hpp>
#include <inlay/engine/step.hpp>
#include <inlay/engine/step_work.hpp>
#include <inlay/engine/timers.hpp>
#include <inlay/engine/trace.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// What a user holds: embedding tables that train, composed of `parts`.
///
/// ```cpp
/// auto trainer = inlay::engine{shape, inlay::parts{.cache = inlay::sieve{}}};
/// trainer.attach(network.parameters(), network.gradients());
/// while (auto step = trainer.next(loader)) {
///   for (auto chunk : step->chunks()) {
///     auto logits = network.forward(chunk.pooled(), chunk.dense());
///     chunk.backward(network.backward(loss(logits, chunk.labels())));
///   }
///   trainer.finish(std::move(*step));
/// }
/// ```
///
/// Gradients are of the loss summed over samples; `finish` divides once, by the size of the global
/// batch.
template <class Parts>
class engine : detail::part_checks<Parts> {
 public:
  /// What it is composed of.
  using parts_type = Parts;
  /// The memory of a step.
  using work_type = step_work<Parts>;
  /// What `begin` and `next` return.
  using step_type = step<engine>;

  /// Opens tables and caches. Throws for a shape or for knobs without sense.
  engine(shape shape, Parts parts)
      : shape_(checked(std::move(shape))), parts_(std::move(parts)), rows_(parts_, shape_) {
    inlay::visit(parts_.optimizer, [](auto const& rule) { rule.check(); });
    inlay::visit(parts_.schedule, [](auto const& schedule) { schedule.check(); });
  }
  engine(engine const&) = delete;
  engine& operator=(engine const&) = delete;

  /// Where its work runs; the user's own may run there too.
  [[nodiscard]] auto const& exec() const noexcept { return parts_.exec; }
  /// The shape that it was made for.
  [[nodiscard]] shape const& facts() const noexcept { return shape_; }

  /// Trains these parameters too, from gradients found at `gradients` whenever a chunk comes back.
  /// Both belong to the caller and stay where they are.
  void attach(span<matrix_view<float> const> parameters,
              span<matrix_view<float const> const> gradients) {
    expects(begun_ == trace::time{}, "attach parameters before the first step");
    dense_.attach(parts_.optimizer, parameters, gradients);
  }

  /// Records every stage and step, and chunks of `each_chunk`, from now on. `into` stays the
  /// caller's and must outlive the last step.
  void attach(trace& into) {
    expects(open_steps_ == 0, "attach a trace between steps");
    trace_ = &into;
  }

  /// Records the keys of every step from now on. `into` stays the caller's and must outlive the
  /// last step.
  void attach(key_log& into) {
    expects(open_steps_ == 0, "attach a log of keys between steps");
    rows_.attach(into);
  }

  /// The next global batch of a stream, or nothing at its end; the call after that begins anew,
  /// with this stream or another. The engine keeps the position in between.
  template <sample_stream Stream>
  [[nodiscard]] std::optional<step_type> next(Stream& stream) {
    expects(
        cursor_ <= stream.size(),
        "training has got further than this stream goes: let a stream end, so that next returns "
        "nothing, before another one begins");
    auto const range = parts_.sync.grant(cursor_, stream.size(), shape_.batch);
    if (range.empty()) {
      cursor_ = 0;
      return std::nullopt;
    }
    batch_view batch;
    {
      auto const timer = timed(stage::load);
      batch = stream.read(range);
    }
    expects(batch.rows == range.size(), "a stream must read as many samples as it is asked for");
    auto begun = begin(batch);
    cursor_ = range.last;
    return begun;
  }

  /// Begins a step with a batch of the user's own, as one global batch. Its memory is free
  /// afterwards.
  [[nodiscard]] step_type begin(batch_view const& batch) {
    opened_ = trace::clock::now();
    require(batch);
    expects(batch.labels.size() == batch.rows, "a batch to train on needs a label for every row");
    expects(open_steps_ == 0, "finish or drop the step at hand before the next one begins");
    auto work = take_work();
    auto const rows_a_chunk = inlay::visit(parts_.sums, [&](auto const& sums) {
      work->take(batch, sums, exec().threads(), dense_.size());
      return sums.rows_a_chunk(batch.rows);
    });
    open_rows(batch, rows_a_chunk, *work);
    ++open_steps_;
    begun_ = trace::clock::now();
    return {*this, std::move(work)};
  }

  /// Begins a step with a batch of the user's own.
  [[nodiscard]] step_type begin(batch const& own) { return begin(own.view()); }

  /// Adds up the gradients of all chunks, moves rows and attached parameters, and lets the rows go.
  void finish(step_type&& finished) {
    expects(finished.owner_ == this && finished.work_,
            "a step is finished once, by its own engine");
    auto& work = *finished.work_;
    detail::step_timer const whole(trace_, step_, opened_);
    for (std::size_t number = 0; number < work.chunks; ++number) {
      if (work.came_back[number] == 0) {
        fail("chunk " + std::to_string(number) + " of the step had no backward");
      }
    }
    { auto const network = timed(stage::network, begun_); }
    if (work.rows > 0) {
      apply(work);
      step_ = inlay::next(step_);
      samples_ += work.rows;
      ++report_.steps;
      report_.samples += work.rows;
    }
    release(std::move(finished.work_));
  }

  /// Pools a batch for evaluation. Unknown ids read their first row; nothing is created, no order
  /// is touched. Labels may be absent.
  [[nodiscard]] looked_up lookup(batch_view const& batch) {
    require(batch);
    auto& work = evaluation_;
    work.stride = rows_.stride();
    work.take(batch, fast_sums{}, 1, 0);
    rows_.look_up(parts_, batch, work.groups, work.pooled.data());
    return {{work.pooled.data(), work.rows, work.stride},
            {work.dense.data(), work.rows, work.dense_width},
            {{work.labels.data(), batch.labels.size()}, {}}};
  }

  /// Pools a batch of the user's own for evaluation.
  [[nodiscard]] looked_up lookup(batch const& own) { return lookup(own.view()); }

  /// Writes cached rows back, so that the tables hold the truth. Returns how many rows that were.
  std::uint64_t flush() {
    auto const rows = rows_.flush(parts_);
    report_.rows.write_backs += rows;
    return rows;
  }

  /// Calls visit(table, id, row) for every row in the tables, in an order without meaning; `flush`
  /// first where there is a cache. // row (dim + state)
  template <class Visit>
  void for_each_row(Visit&& visit) const {
    rows_.for_each_row(std::forward<Visit>(visit));
  }

  /// Figures since the engine was made.
  [[nodiscard]] report figures() const {
    auto result = report_;
    result.table_rows = rows_.table_rows();
    result.bytes = rows_.bytes();
    return result;
  }

 private:
  friend step_type;
  friend chunk<engine>;

  /// The shape, if it is right and goes with the parts.
  [[nodiscard]] static shape checked(shape given) {
    given.check();
    bool const caches = !std::is_same_v<typename Parts::cache_type, no_cache>;
    expects(caches || given.cache_rows == 0,
            "cache_rows is set, but parts.cache is no_cache: name a policy, such as lru");
    expects(!caches || given.cache_rows > 0, "parts.cache names a policy, but cache_rows is 0");
    return given;
  }

  void require(batch_view const& batch) const {
    check(batch);
    if (batch.fields != shape_.field_tables.size()) {
      fail("the batch has " + std::to_string(batch.fields) + " fields and the shape " +
           std::to_string(shape_.field_tables.size()));
    }
  }

  [[nodiscard]] std::unique_ptr<work_type> take_work() {
    if (!spare_) {
      spare_ = std::make_unique<work_type>();
      spare_->stride = rows_.stride();
    }
    return std::move(spare_);
  }

  void open_rows(batch_view const& batch, std::size_t rows_a_chunk, work_type& work) {
    {
      auto const timer = timed(stage::map);
      rows_.map(parts_, batch, rows_a_chunk, work.groups);
    }
    {
      auto const timer = timed(stage::bring);
      auto const before = rows_.table_rows();
      try {
        report_.rows += rows_.bring(parts_, step_, work.groups);
      } catch (...) {
        report_.rows.created += rows_.table_rows() - before;  // they stay
        throw;
      }
    }
    report_.ids += batch.ids.size();
    auto const timer = timed(stage::pool);
    rows_.pool(parts_, work.groups, batch.rows, work.pooled.data());
  }

  /// Moves everything; or throws, has moved nothing, and forgets what the chunks gave, some of
  /// which has been added up by then.
  void apply(work_type& work) {
    try {
      update(work);
    } catch (...) {
      std::fill(work.came_back.begin(), work.came_back.end(), std::uint8_t{0});
      throw;
    }
  }

  /// A step is applied as a whole or not at all: whatever may throw comes before anything moves.
  void update(work_type& work) {
    auto const factor = 1.0F / static_cast<float>(work.rows);
    auto const rate = inlay::visit(parts_.schedule,
                                   [&](auto const& schedule) { return schedule.factor(samples_); });
    auto* const dense_sums = work.dense_gradients.data();
    double excess = 0.0;
    {
      auto const timer = timed(stage::dense);
      dense_.sum(exec(), dense_sums, work.chunks, factor);
      excess = dense_.clip(exec(), dense_sums, shape_.dense_clip_norm);
    }
    {
      auto const timer = timed(stage::update);
      rows_.update(parts_, work.groups, work.pooled_gradient.data(),
                   greatest_magnitude(work.greatest.data(), work.chunks), factor,
                   {.step = step_, .rate_factor = rate});
    }
    auto const timer = timed(stage::dense);
    dense_.apply(exec(), parts_.optimizer, dense_sums,
                 {.step = step_, .rate_factor = rate * shape_.dense_learning_rate_factor});
    if (excess > 0.0) ++report_.clipped_steps;
  }

  /// Keeps what a chunk gives back; chunks may come side by side. A value that is not finite is an
  /// error that names the table and id that it would reach.
  void keep(work_type& work, std::size_t chunk, matrix_view<float const> pooled_gradient,
            span<matrix_view<float const> const> parameter_gradients) const {
    work.came_back[chunk] = 0;
    if (auto const place = work.keep(chunk, pooled_gradient); place != work_type::all_finite) {
      fail("the gradient of " + rows_.describe_bag(work.groups, place) + " is not finite (row " +
           std::to_string(place / work.stride) + " of the batch, column " +
           std::to_string(place % work.stride) + ", step " + std::to_string(number(step_)) + ")");
    }
    dense_.keep(parameter_gradients, work.dense_gradients.data() + chunk * dense_.size());
    work.came_back[chunk] = 1;
  }

  [[nodiscard]] auto attached_gradients() const noexcept { return dense_.gradients(); }

  void drop(std::unique_ptr<work_type> work) noexcept {
    ++report_.dropped_steps;
    release(std::move(work));
  }

  void release(std::unique_ptr<work_type> work) noexcept {
    rows_.release(work->groups);
    --open_steps_;
    spare_ = std::move(work);
  }

  [[nodiscard]] detail::stage_timer timed(stage at,
                                          trace::time begun = trace::clock::now()) noexcept {
    return {report_, trace_, at, step_, begun};
  }

  shape shape_;
  Parts parts_;
  row_groups<Parts> rows_;
  dense_parameters<typename Parts::optimizer_type> dense_;
  std::unique_ptr<work_type> spare_;  // memory of the last step, for the next
  work_type evaluation_;
  report report_;
  std::uint64_t cursor_ = 0;    // samples granted so far
  std::size_t open_steps_ = 0;  // begun, neither finished nor dropped
  step_id step_{};
  std::uint64_t samples_ = 0;  // applied so far
  trace* trace_ = nullptr;     // where stages are recorded, if anywhere
  trace::time opened_;         // when the step at hand began to map
  trace::time begun_;          // and when its user got it
};

}  // namespace inlay::inline INLAY_ABI
