#pragma once

#include <inlay/batch/batch_view.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/engine/job_thread.hpp>
#include <inlay/engine/row_groups.hpp>
#include <inlay/engine/shape.hpp>
#include <inlay/engine/stage.hpp>
#include <inlay/engine/step_work.hpp>
#include <inlay/engine/timers.hpp>
#include <inlay/engine/trace.hpp>
#include <inlay/optim/row_optimizer.hpp>

#include <cstddef>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// Brings the rows of steps and lets them go: those of the step at hand on the calling thread,
/// those of steps to come on a thread of its own while the step at hand trains.
///
/// Both are exact. A row that a step in flight uses is pinned, so the thread moves others only; it
/// is pooled when its own step begins, after the last update. What the thread does it does in the
/// order of the calls, so which rows leave a cache does not depend on how fast it is.
template <class Parts>
class row_stage {
 public:
  /// The memory of a step.
  using work_type = step_work<Parts>;

  /// Opens tables and caches. `parts` stays the caller's.
  row_stage(Parts const& parts, shape const& shape)
      : parts_(parts), rows_(parts, shape), via_(parts.exec), compute_(parts.exec.open_stream()) {}

  /// Records stages from now on, or with nullptr no longer.
  void attach(trace* into) noexcept { trace_ = into; }

  /// The rows, once nothing is under way.
  [[nodiscard]] row_groups<Parts>& settled() {
    thread_.settle();
    via_.drain();
    compute_.drain();
    return rows_;
  }

  /// Columns of a pooled row.
  [[nodiscard]] std::size_t stride() const noexcept { return rows_.stride(); }
  /// "id 7 of table C3" for a place in a step's pooled matrix.
  [[nodiscard]] std::string describe_bag(work_type const& work, std::size_t place) const {
    return rows_.describe_bag(work.groups, place);
  }

  /// Brings the rows of a batch here and now. Throws, and has changed nothing but that rows were
  /// created.
  void bring(work_type& work, batch_view const& batch) {
    thread_.settle();
    open(work, batch, 0);
  }

  /// Begins to bring the rows of `work.ids`. `work` stays where it is until `await` or `release`.
  void bring_ahead(work_type& work) {
    work.failure = nullptr;
    if constexpr (row_groups<Parts>::streams_type::at_once) {
      thread_.post(work.bringing);
    } else {
      open_ahead(work);
    }
  }

  /// Returns when the rows that were sent for are there; throws what went wrong.
  void await(work_type& work) {
    thread_.wait(work.bringing);
    if (work.failure) std::rethrow_exception(std::exchange(work.failure, nullptr));
  }

  /// Pools the rows of a step.
  void pool(work_type& work) {
    compute_.wait(work.arrived);
    compute_.submit(
        [this, &work] { rows_.pool(parts_, work.groups, work.rows, work.pooled.data()); });
    compute_.drain();
  }

  /// Moves the rows of a step against their gradients; or throws and moves none.
  void update(work_type& work, float greatest, float factor, update_context const& context) {
    rows_.prepare_update(parts_, work.groups, work.pooled_gradient.data(), greatest);
    compute_.submit([this, &work, factor, context] {
      rows_.update(parts_, work.groups, work.pooled_gradient.data(), factor, context);
    });
    via_.wait(compute_.record());
  }

  /// Lets go of the rows of a step whose bringing has been awaited, or that was brought at once.
  void release(work_type& work) noexcept {
    via_.wait(work.arrived);
    if (!thread_.started()) {
      rows_.release(work.groups);
      return;
    }
    thread_.post(work.releasing);
  }

  /// Memory for a step: that of a former one, if there is any.
  [[nodiscard]] std::unique_ptr<work_type> take() {
    if (spares_.empty()) return make();
    auto work = std::move(spares_.back());
    spares_.pop_back();
    compute_.wait(work->arrived);  // nobody has waited for the rows of a lease that was dropped
    compute_.drain();
    for (auto& group : work->groups) {  // `release` may still be on its way, but it comes first
      parts_.exec.give_back(group.refs.moves.slots);
      parts_.exec.give_back(group.refs.weights);
      parts_.exec.give_back(group.refs.state);
    }
    return work;
  }

  /// Gives memory back whose rows are released, or never came.
  void give_back(std::unique_ptr<work_type> work) noexcept { spares_.push_back(std::move(work)); }

  /// Finishes what the thread is at and forgets what is left.
  void stop() noexcept { thread_.stop(); }

 private:
  [[nodiscard]] std::unique_ptr<work_type> make() {
    auto work = std::make_unique<work_type>();
    work->stride = stride();
    work->stage = this;
    work->bringing = {.run = run_open, .context = work.get()};
    work->releasing = {.run = run_release, .context = work.get()};
    spares_.reserve(++works_);  // so that all can be given back
    return work;
  }

  void open(work_type& work, batch_view const& batch, std::size_t worker) {
    auto const step = step_id{work.number};
    work.opened = {};
    work.opened.ids = batch.ids.size();
    {
      detail::stage_timer const timer(work.opened, trace_, stage::map, step, trace::clock::now(),
                                      worker);
      rows_.map(parts_, batch, work.summed_rows, work.groups);
    }
    detail::stage_timer const timer(work.opened, trace_, stage::bring, step, trace::clock::now(),
                                    worker);
    auto const before = rows_.table_rows();
    try {
      work.opened.rows = rows_.bring(parts_, via_, step, work.groups);
    } catch (...) {
      work.opened.ids = 0;
      work.opened.rows.created = rows_.table_rows() - before;  // they stay
      throw;
    }
    work.arrived = via_.arrived();
  }

  void open_ahead(work_type& work) noexcept {
    try {
      open(work, work.ids.view(), parts_.exec.threads());
    } catch (...) {
      work.failure = std::current_exception();
    }
  }

  static void run_open(void* context) noexcept {
    auto& work = *static_cast<work_type*>(context);
    static_cast<row_stage*>(work.stage)->open_ahead(work);
  }
  static void run_release(void* context) noexcept {
    auto& work = *static_cast<work_type*>(context);
    static_cast<row_stage*>(work.stage)->rows_.release(work.groups);
  }

  Parts const& parts_;
  row_groups<Parts> rows_;
  typename row_groups<Parts>::streams_type via_;
  typename Parts::exec_type::stream compute_;
  trace* trace_ = nullptr;
  std::vector<std::unique_ptr<work_type>> spares_;
  std::size_t works_ = 0;  // that were made
  job_thread thread_;
};

}  // namespace inlay::inline INLAY_ABI
