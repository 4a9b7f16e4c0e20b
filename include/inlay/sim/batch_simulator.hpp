#pragma once

#include <inlay/cache/cache_slots.hpp>
#include <inlay/cache/slot_pins.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/core/views.hpp>
#include <inlay/sim/access_trace.hpp>
#include <inlay/sim/replayed.hpp>
#include <inlay/vsid/hash_mapper.hpp>
#include <inlay/vsid/id_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

namespace detail {

/// Calls visit(first, last) for the batches of a trace: of `size` requests each, or where its own
/// end.
template <class Visit>
void for_each_batch(access_trace const& trace, std::size_t size, Visit&& visit) {
  if (size > 0) {
    for (std::size_t first = 0; first < trace.size(); first += size) {
      visit(first, std::min(first + size, trace.size()));
    }
    return;
  }
  std::size_t first = 0;
  for (auto const end : trace.batch_ends()) {
    visit(first, std::size_t{end});
    first = end;
  }
}

}  // namespace detail

/// The cache of an engine without its rows: batches are de-duplicated, planned and pinned by the
/// very parts that an engine is made of, so hits and victims are those of training.
template <class Cache>
struct batch_simulator {
  Cache cache{};             ///< a policy, or one of several
  std::size_t capacity = 0;  ///< rows; at least one
  std::size_t batch = 0;     ///< requests of a batch, the last may have fewer; 0: as the trace says
  std::size_t depth = 0;     ///< batches in flight before the one at hand, their rows pinned

  /// Sends all batches through an empty cache. A batch that does not fit beside those in flight is
  /// an error that names it, and needed and available rows.
  [[nodiscard]] replayed replay(host_exec const& exec, access_trace const& trace) const {
    expects(batch > 0 || trace.size() == 0 || !trace.batch_ends().empty(),
            "nothing is known of the batches of this trace: name their size");
    using key = access_trace::key;
    expects(capacity > 0, "a cache needs at least one row");
    expects(depth < most_in_flight, "a simulation has at most 65,535 batches in flight");
    // More rows than the trace has would stay empty.
    auto const rows = std::min(capacity, std::max(trace.distinct(), std::size_t{1}));
    cache_slots<Cache, key> slots(cache, rows);
    hash_mapper::workspace<key> work;
    id_plan<key> plan;
    buffer<slot_id> at;
    std::vector<slot_pins::set_id> in_flight(depth + 1, slot_pins::none);  // by step
    std::size_t step = 0;
    replayed result;
    detail::for_each_batch(trace, batch, [&](std::size_t first, std::size_t last) {
      hash_mapper{}.map(exec, trace.keys().subspan(first, last - first), work, plan);
      at.resize(plan.size());
      auto const unique = std::as_const(plan.unique).view();
      slots.find(exec, unique, at.view(), [&](std::size_t needed, std::size_t available) {
        refuse(step, needed, available);
      });
      in_flight[step % in_flight.size()] =
          slots.place(exec, unique, std::as_const(plan.counts).view(),
                      step_id{static_cast<std::int64_t>(step)}, at.view());
      ++step;
      count(result, last - first, plan.size(), slots.missed().size(), slots.fresh());
      auto& oldest = in_flight[step % in_flight.size()];
      if (oldest != slot_pins::none) slots.release(std::exchange(oldest, slot_pins::none));
    });
    return result;
  }

 private:
  static constexpr std::size_t most_in_flight = 65'536;

  static void count(replayed& into, std::size_t requests, std::size_t unique, std::size_t misses,
                    std::size_t fresh) noexcept {
    into.requests += requests;
    into.unique += unique;
    into.hits += unique - misses;
    into.misses += misses;
    into.evictions += misses - fresh;
  }

  [[noreturn]] void refuse(std::size_t step, std::size_t needed, std::size_t available) const {
    fail("batch " + std::to_string(step) + " of the trace needs " + std::to_string(needed) +
         " rows at once, and it can have " + std::to_string(available) + " of " +
         std::to_string(capacity) + ": raise the capacity, or lower the batch or the depth");
  }
};

}  // namespace inlay::inline INLAY_ABI
