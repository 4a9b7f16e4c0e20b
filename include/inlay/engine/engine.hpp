#pragma once

#include <inlay/batch/batch.hpp>
#include <inlay/batch/batch_view.hpp>
#include <inlay/core/error.hpp>
#include <inlay/engine/gradient_stage.hpp>
#include <inlay/engine/key_log.hpp>
#include <inlay/engine/lease.hpp>
#include <inlay/engine/looked_up.hpp>
#include <inlay/engine/part_checks.hpp>
#include <inlay/engine/parts.hpp>
#include <inlay/engine/progress.hpp>
#include <inlay/engine/read_ahead.hpp>
#include <inlay/engine/read_share.hpp>
#include <inlay/engine/report.hpp>
#include <inlay/engine/row_stage.hpp>
#include <inlay/engine/sample_stream.hpp>
#include <inlay/engine/shape.hpp>
#include <inlay/engine/stage.hpp>
#include <inlay/engine/step.hpp>
#include <inlay/engine/step_work.hpp>
#include <inlay/engine/timers.hpp>
#include <inlay/engine/trace.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
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
  /// What `prefetch` returns.
  using lease_type = lease<engine>;

  /// Opens tables and caches. Throws for a shape or for knobs without sense.
  engine(shape shape, Parts parts)
      : shape_(checked<Parts>(std::move(shape))),
        parts_(std::move(parts)),
        rows_(parts_, shape_),
        gradients_(parts_, shape_, rows_) {
    parts_.admit.check();
    inlay::visit(parts_.optimizer, [](auto const& rule) { rule.check(); });
    inlay::visit(parts_.schedule, [](auto const& schedule) { schedule.check(); });
  }
  engine(engine const&) = delete;
  engine& operator=(engine const&) = delete;
  /// Stops what is under way. Steps and leases that are left are of no use any more.
  ~engine() {
    rows_.stop();
    alive_.reset();
  }

  /// Where its work runs; the user's own may run there too.
  [[nodiscard]] auto const& exec() const noexcept { return parts_.exec; }
  /// The shape that it was made for.
  [[nodiscard]] shape const& facts() const noexcept { return shape_; }

  /// Trains these parameters too, from gradients found at `gradients` whenever a chunk comes back.
  /// Both belong to the caller and stay where they are.
  void attach(span<matrix_view<float> const> parameters,
              span<matrix_view<float const> const> gradients) {
    expects(begun_ == trace::time{} && leases_ == 0, "attach parameters before the first step");
    gradients_.dense().attach(parts_.optimizer, parameters, gradients);
    rows_.all().add_to_kind(gradients_.dense().size());
  }

  /// Records every stage and step, and chunks of `each_chunk`, from now on. `into` stays the
  /// caller's and must outlive the last step.
  void attach(trace& into) {
    expects(open_steps_ + leases_ == 0,
            "attach a trace while no step is open and no rows are brought ahead");
    at_.recorded = &into;
    rows_.attach(into);
  }

  /// Records the keys of every step from now on. `into` stays the caller's and must outlive the
  /// last step.
  void attach(key_log& into) {
    expects(open_steps_ + leases_ == 0,
            "attach a log of keys while no step is open and no rows are brought ahead");
    rows_.settled().attach(into);
  }

  /// The next global batch of a stream, or nothing at its end; the call after that begins anew,
  /// with this stream or another. The engine keeps the position in between. With `shape.prefetch`
  /// the rows of so many batches more are being brought when it returns; so it reads ahead, and
  /// what goes wrong there is thrown when its turn has come. The steps are the same, bit for bit.
  template <sample_stream Stream>
  [[nodiscard]] std::optional<step_type> next(Stream& stream) {
    expects(
        ahead_.position() <= stream.size(),
        "training has got further than this stream goes: let a stream end, so that next returns "
        "nothing, before another one begins");
    expects(open_steps_ == 0, "finish or drop the step at hand before the next one begins");
    if (shape_.prefetch == 0) return next_at_once(stream);
    ahead_.follow(&stream);
    while (ahead_.size() <= shape_.prefetch && !ahead_.has_failed()) {
      auto const range = parts_.sync.grant(ahead_.next(), stream.size(), shape_.batch);
      if (range.empty()) break;
      ahead_.add(range, [&] {
        return together([&] {
          return prefetch(read_share(stream, range, rows_.all(), parts_.sums, shape_, at_));
        });
      });
    }
    if (ahead_.size() == 0) {
      ahead_.go_to(0);
      return std::nullopt;
    }
    auto oldest = ahead_.take();
    try {
      if (oldest.failure) std::rethrow_exception(oldest.failure);
      auto begun = begin(std::move(*oldest.rows));
      ahead_.go_to(oldest.range.last);
      return begun;
    } catch (...) {
      ahead_.forget();  // as without reading ahead: the next call tries the same samples
      throw;
    }
  }

  /// Forgets what `next` has read ahead; the next call goes on at the same sample, of whatever
  /// stream it is given. For a stream that changes, or ends its life, before it has been read to
  /// its end; one at another address is taken for another.
  void forget_ahead() noexcept { ahead_.forget(); }

  /// The same, and the next call begins at the first sample.
  void rewind() noexcept {
    ahead_.forget();
    ahead_.go_to(0);
  }

  /// Begins to bring the rows of a batch for a step to come, on a thread of their own. Its memory
  /// is free afterwards. The rows stay until the step is over, so all that is prefetched must fit
  /// into the cache together. What goes wrong is thrown when the lease begins.
  [[nodiscard]] lease_type prefetch(batch_view const& batch) {
    auto work = together([&] { return take_work(batch); });
    try {
      rows_.bring_ahead(*work, batch);
    } catch (...) {
      give_up(std::move(work));
      throw;
    }
    ++leases_;
    return {*this, alive_, std::move(work)};
  }

  /// Begins to bring the rows of a batch of the user's own.
  [[nodiscard]] lease_type prefetch(batch const& own) { return prefetch(own.view()); }

  /// Begins a step whose rows have been sent for, as one global batch. Leases may begin in any
  /// order; each sees all updates before it.
  [[nodiscard]] step_type begin(lease_type&& ahead) {
    expects(ahead.work_ && ahead.alive_.lock() == alive_,
            "a lease begins once, with its own engine");
    expects(open_steps_ == 0, "finish or drop the step at hand before the next one begins");
    auto work = std::move(ahead.work_);
    work->began = trace::clock::now();
    --leases_;
    try {
      auto const timer = at_.timed(stage::wait);
      rows_.await(*work);
      rows_.agree(*work);
    } catch (...) {
      give_up(std::move(work));
      throw;
    }
    return open(std::move(work));
  }

  /// Begins a step with a batch of the user's own, as one global batch. Its memory is free
  /// afterwards.
  [[nodiscard]] step_type begin(batch_view const& batch) {
    auto const now = trace::clock::now();
    expects(open_steps_ == 0, "finish or drop the step at hand before the next one begins");
    auto work = together([&] { return take_work(batch); });
    work->began = now;
    try {
      rows_.bring(*work, batch);
    } catch (...) {
      give_up(std::move(work));
      throw;
    }
    return open(std::move(work));
  }

  /// Begins a step with a batch of the user's own.
  [[nodiscard]] step_type begin(batch const& own) { return begin(own.view()); }

  /// Adds up the gradients of all chunks, moves rows and attached parameters, and lets the rows go.
  void finish(step_type&& finished) {
    expects(finished.work_ && finished.alive_.lock() == alive_,
            "a step is finished once, by its own engine");
    auto& work = *finished.work_;
    detail::step_timer const whole(at_.recorded, at_.step, work.began);
    { auto const network = at_.timed(stage::network, begun_); }
    gradients_.apply(work, at_);
    if (work.global_rows > 0) at_.advance(work.global_rows);
    --open_steps_;
    release(std::move(finished.work_));
  }

  /// Pools a batch for evaluation. Unknown ids read their first row; nothing is created, no order
  /// is touched. Labels may be absent.
  [[nodiscard]] looked_up lookup(batch_view const& batch) {
    check(batch, shape_);
    if (!evaluation_) evaluation_ = rows_.take();
    auto& work = *evaluation_;
    work.number = lookups_++;
    work.take(batch, fast_sums{}, 1, 0);
    rows_.look_up(work, batch);
    return {{work.pooled.data(), work.rows, work.stride},
            {work.dense.data(), work.rows, work.dense_width},
            {{work.labels.data(), batch.labels.size()}, {}}};
  }

  /// Pools a batch of the user's own for evaluation.
  [[nodiscard]] looked_up lookup(batch const& own) { return lookup(own.view()); }

  /// Keeps rows of a table for good, creating those that nobody has touched, whatever `parts.admit`
  /// says: no cache policy may choose them, and steps have so many slots fewer for others. Throws,
  /// and keeps none, if they don't fit. Of several ranks each keeps those that it owns.
  void keep(table_id table, span<raw_id const> ids) {
    expects(open_steps_ + leases_ == 0,
            "keep rows while no step is open and no rows are brought ahead: see forget_ahead");
    expects(index(table) < shape_.tables.size(), "rows to keep need a table that there is");
    at_.figures.rows += rows_.keep(table, shape_.tables[index(table)].dim, ids, step_id{plans_++});
  }

  /// Writes cached rows back, so that the tables hold the truth. Returns how many rows that were.
  std::uint64_t flush() {
    auto const rows = rows_.settled().flush(parts_);
    at_.figures.rows.write_backs += rows;
    return rows;
  }

  /// Calls visit(table, id, row) for every row in the tables, in an order without meaning; `flush`
  /// first where there is a cache. // row (dim + state)
  template <class Visit>
  void for_each_row(Visit&& visit) const {
    rows_.settled().for_each_row(std::forward<Visit>(visit));
  }

  /// Figures since the engine was made.
  [[nodiscard]] report figures() const {
    auto result = at_.figures;
    result.forgotten_keys = rows_.settled().forgotten();
    result.table_rows = rows_.settled().table_rows();
    result.bytes = rows_.settled().bytes();
    if constexpr (requires { parts_.comm.traffic(); }) result.sent_bytes = parts_.comm.traffic();
    return result;
  }

 private:
  friend step_type;
  friend lease_type;
  friend chunk<engine>;

  /// Calls body(), which makes a plan; if it fails before it has met the other ranks, they are
  /// told.
  template <class Body>
  [[nodiscard]] auto together(Body const& body) {
    auto const plan = plans_;
    try {
      return body();
    } catch (...) {
      if (plans_ == plan) rows_.decline(plans_++);
      throw;
    }
  }

  /// Memory for a step with this batch, which it may keep of the batch but its ids.
  [[nodiscard]] std::unique_ptr<work_type> take_work(batch_view const& batch) {
    check(batch, shape_);
    expects(batch.labels.size() == batch.rows, "a batch to train on needs a label for every row");
    auto work = rows_.take();
    inlay::visit(parts_.sums, [&](auto const& sums) {
      work->take(batch, sums, exec().threads(), gradients_.dense().size());
    });
    work->number = plans_++;
    return work;
  }

  template <class Stream>
  [[nodiscard]] std::optional<step_type> next_at_once(Stream& stream) {
    auto const range = parts_.sync.grant(ahead_.position(), stream.size(), shape_.batch);
    if (range.empty()) {
      ahead_.go_to(0);
      return std::nullopt;
    }
    auto begun = together(
        [&] { return begin(read_share(stream, range, rows_.all(), parts_.sums, shape_, at_)); });
    ahead_.go_to(range.last);
    return begun;
  }

  /// The step whose rows are here.
  [[nodiscard]] step_type open(std::unique_ptr<work_type> work) {
    at_.figures.add_opened(work->opened);
    try {
      auto const timer = at_.timed(stage::pool);
      rows_.pool(*work);
    } catch (...) {
      release(std::move(work));
      throw;
    }
    ++open_steps_;
    begun_ = trace::clock::now();
    return {*this, alive_, std::move(work)};
  }

  void keep(work_type& work, std::size_t chunk, matrix_view<float const> pooled_gradient,
            span<matrix_view<float const> const> parameter_gradients) const {
    gradients_.keep(work, at_.step, chunk, pooled_gradient, parameter_gradients);
  }

  [[nodiscard]] auto attached_gradients() const noexcept { return gradients_.dense().gradients(); }

  void drop(std::unique_ptr<work_type> work) noexcept {
    ++at_.figures.dropped_steps;
    --open_steps_;
    release(std::move(work));
  }

  void drop_lease(std::unique_ptr<work_type> work) noexcept {
    ++at_.figures.dropped_leases;
    --leases_;
    rows_.await(*work);
    if (work->failure) {  // it would have been the step's, which will not be
      give_up(std::move(work));
      return;
    }
    at_.figures.add_opened(work->opened);
    release(std::move(work));
  }

  /// A step whose rows could not be brought: none is held.
  void give_up(std::unique_ptr<work_type> work) noexcept {
    at_.figures.add_opened(work->opened);
    rows_.give_back(std::move(work));
  }

  void release(std::unique_ptr<work_type> work) noexcept {
    rows_.release(*work);
    rows_.give_back(std::move(work));
  }

  shape shape_;
  Parts parts_;
  mutable row_stage<Parts> rows_;
  gradient_stage<Parts> gradients_;
  std::unique_ptr<work_type> evaluation_;  // memory of look-ups
  progress at_;
  std::shared_ptr<void> alive_ = std::make_shared<char>();  // for leases and steps to know
  read_ahead<lease_type> ahead_;
  std::size_t leases_ = 0;      // prefetched, neither begun nor dropped
  std::size_t open_steps_ = 0;  // begun, neither finished nor dropped
  std::int64_t plans_ = 0;      // made so far
  std::int64_t lookups_ = 0;    // the same
  trace::time begun_;           // when the user got the step at hand
};

}  // namespace inlay::inline INLAY_ABI
