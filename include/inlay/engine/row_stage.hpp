#pragma once

#include <inlay/batch/batch_view.hpp>
#include <inlay/cache/row_refs.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/hash.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/core/one_of.hpp>
#include <inlay/core/views.hpp>
#include <inlay/engine/failure_of.hpp>
#include <inlay/engine/job_thread.hpp>
#include <inlay/engine/keyed_rows.hpp>
#include <inlay/engine/lone_rows.hpp>
#include <inlay/engine/pooled_rows.hpp>
#include <inlay/engine/ranks.hpp>
#include <inlay/engine/row_groups.hpp>
#include <inlay/engine/shape.hpp>
#include <inlay/engine/stage.hpp>
#include <inlay/engine/step_work.hpp>
#include <inlay/engine/timers.hpp>
#include <inlay/engine/trace.hpp>
#include <inlay/optim/row_optimizer.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

namespace detail {

template <class Parts>
struct rows_among_ranks {
  using type = lone_rows<Parts>;
};
template <class Parts>
  requires moves_keys<Parts>
struct rows_among_ranks<Parts> {
  using type = keyed_rows<Parts>;
};
template <class Parts>
  requires moves_bags<Parts>
struct rows_among_ranks<Parts> {
  using type = pooled_rows<Parts>;
};

}  // namespace detail

/// Brings the rows of steps and lets them go: those of the step at hand on the calling thread,
/// those of steps to come on a thread of its own while the step at hand trains.
///
/// Both are exact. A row that a step in flight uses is pinned, so the thread moves others only; it
/// is pooled when its own step begins, after the last update. What the thread does it does in the
/// order of the calls, so which rows leave a cache does not depend on how fast it is. Other ranks
/// are met on the calling thread alone.
template <class Parts>
class row_stage {
 public:
  /// The memory of a step.
  using work_type = step_work<Parts>;
  /// Who trains.
  using ranks_type = ranks<typename Parts::comm_type>;

  /// Opens tables and caches. `parts` stays the caller's.
  row_stage(Parts const& parts, shape const& shape)
      : parts_(parts),
        all_(parts.comm, shape.deadline_s, kind_of(parts, shape)),
        rows_(parts, shape, all_),
        via_(parts.exec),
        compute_(parts.exec.open_stream()) {}

  /// Records stages from now on.
  void attach(trace& into) noexcept { trace_ = &into; }

  /// The ranks that train together.
  [[nodiscard]] ranks_type& all() noexcept { return all_; }

  /// The rows of this rank, once nothing is under way.
  [[nodiscard]] row_groups<Parts>& settled() {
    settle();
    return rows_.groups();
  }

  /// Columns of a pooled row.
  [[nodiscard]] std::size_t stride() const noexcept { return rows_.stride(); }
  /// "id 7 of table C3" for a place in a step's pooled matrix.
  [[nodiscard]] std::string describe_bag(work_type const& work, std::size_t place) const {
    return rows_.describe_bag(work, place);
  }

  /// Brings the rows of a batch here and now. If it throws, nothing has changed but that rows were
  /// created.
  void bring(work_type& work, batch_view const& batch) {
    request(work, batch);
    thread_.settle();
    open(work, batch, 0);
    agree(work);
  }

  /// Begins to bring the rows of a batch. `work` stays where it is until `await` or `release`.
  void bring_ahead(work_type& work, batch_view const& batch) {
    request(work, batch);
    if constexpr (ranks_type::alone) work.ids.assign(batch);
    if constexpr (row_groups<Parts>::streams_type::at_once) {
      thread_.post(work.bringing);
    } else {
      open(work, work.ids.view(), 0);
    }
  }

  /// Tells the others that this rank could not even begin to bring the rows of a plan.
  void decline(std::int64_t plan) noexcept {
    if constexpr (!ranks_type::alone) {
      try {
        static_cast<void>(all_.meet(rank_call::prefetch, plan, ranks_type::failed));
      } catch (...) {  // what is thrown here has a cause, which is on its way
      }
    }
  }

  /// Returns when the thread is through with the rows that were sent for.
  void await(work_type& work) { thread_.wait(work.bringing); }

  /// Throws what went wrong while rows were brought, here or on another rank; none are held then.
  void agree(work_type& work) {
    auto const failure = std::exchange(work.failure, nullptr);
    try {
      all_.agree(rank_call::begin, work.number, failure);
    } catch (...) {
      if (!failure) release(work);
      throw;
    }
  }

  /// Pools the rows of a step.
  void pool(work_type& work) {
    compute_.wait(work.arrived);
    compute_.submit([this, &work] { rows_.pool(work); });
    compute_.drain();
  }

  /// Takes memory and sums gradients; throws if a sum is not finite, and nothing has moved then.
  void prepare_update(work_type& work, float greatest) { rows_.prepare_update(work, greatest); }

  /// Moves the rows of a step against their gradients.
  void update(work_type& work, float factor, update_context const& context) {
    compute_.submit([this, &work, factor, context] { rows_.update(work, factor, context); });
    via_.wait(compute_.record());
  }

  /// Pools a batch without creating or moving anything. // work.pooled
  void look_up(work_type& work, batch_view const& batch) {
    settle();
    if constexpr (!ranks_type::alone) {
      all_.agree(rank_call::lookup, work.number, failure_of([&] { rows_.list(work, batch); }));
    }
    rows_.look_up(work, batch);
  }

  /// Brings those of some rows of a table that are this rank's, and keeps them in the cache for
  /// good.
  row_traffic keep(table_id table, std::size_t dim, span<raw_id const> ids, step_id step) {
    using keys = typename Parts::keys_type;
    settle();
    all_.agree(rank_call::keep, number(step), nullptr);
    buffer<typename keys::key> own;
    for (auto const id : ids) {
      if (!keys::holds(table, id)) {
        fail("id " + std::to_string(id) + " does not fit into a " + keys::name + " key");
      }
      auto const key = keys::pack(table, id);
      if (rows_.owns(table, key)) own.push_back(key);
    }
    return rows_.groups().keep(parts_, dim, std::as_const(own).view(), step);
  }

  /// Lets go of the rows of a step whose bringing has been awaited, or that was brought at once.
  void release(work_type& work) noexcept {
    via_.wait(work.arrived);
    if (!thread_.started()) {
      rows_.groups().release(work.groups);
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
    rows_.adopt(*work);
    work->stage = this;
    work->bringing = {.run = run_open, .context = work.get()};
    work->releasing = {.run = run_release, .context = work.get()};
    spares_.reserve(++works_);  // so that all can be given back
    return work;
  }

  /// What all ranks need the same, in one number.
  [[nodiscard]] static std::uint64_t kind_of(Parts const& parts, shape const& shape) {
    auto const name_of = [](auto const& part) {
      return inlay::visit(part, [](auto const& chosen) {
        std::uint64_t bits = 0;
        if constexpr (requires { std::string_view(chosen.name); }) {
          for (auto const letter : std::string_view(chosen.name)) {
            bits = mix(bits, static_cast<std::uint64_t>(letter));
          }
        }
        return bits;
      });
    };
    auto kind = mix(mix(name_of(parts.sums), name_of(parts.optimizer)), name_of(parts.exchange));
    return mix(kind, shape.fingerprint());
  }

  void settle() {
    thread_.settle();
    via_.drain();
    compute_.drain();
  }

  void request(work_type& work, batch_view const& batch) {
    work.failure = nullptr;
    work.opened = {};
    work.opened.ids = batch.ids.size();
    if constexpr (!ranks_type::alone) {
      detail::stage_timer const timer(work.opened, trace_, stage::map, step_id{work.number});
      work.meet(all_, batch.rows, failure_of([&] { rows_.list(work, batch); }));
      rows_.request(work, batch);
    }
  }

  void open(work_type& work, batch_view const& batch, std::size_t worker) noexcept {
    try {
      auto const step = step_id{work.number};
      {
        detail::stage_timer const timer(work.opened, trace_, stage::map, step, trace::clock::now(),
                                        worker);
        rows_.map(work, batch);
      }
      detail::stage_timer const timer(work.opened, trace_, stage::bring, step, trace::clock::now(),
                                      worker);
      bring_rows(work, step);
    } catch (...) {
      work.opened.ids = 0;
      work.failure = std::current_exception();
    }
  }

  void bring_rows(work_type& work, step_id step) {
    auto& groups = rows_.groups();
    auto const before = groups.table_rows();
    try {
      work.opened.rows = groups.bring(parts_, via_, step, work.groups);
    } catch (...) {
      work.opened.rows.created = groups.table_rows() - before;  // they stay
      throw;
    }
    work.arrived = via_.arrived();
  }

  static void run_open(void* context) noexcept {
    auto& work = *static_cast<work_type*>(context);
    auto& stage = *static_cast<row_stage*>(work.stage);
    stage.open(work, work.ids.view(), stage.parts_.exec.threads());
  }
  static void run_release(void* context) noexcept {
    auto& work = *static_cast<work_type*>(context);
    static_cast<row_stage*>(work.stage)->rows_.groups().release(work.groups);
  }

  Parts const& parts_;
  ranks_type all_;
  typename detail::rows_among_ranks<Parts>::type rows_;
  typename row_groups<Parts>::streams_type via_;
  typename Parts::exec_type::stream compute_;
  trace* trace_ = nullptr;
  std::vector<std::unique_ptr<work_type>> spares_;
  std::size_t works_ = 0;  // that were made
  job_thread thread_;
};

}  // namespace inlay::inline INLAY_ABI
