#pragma once

#include <inlay/cache/organisation.hpp>
#include <inlay/testing/lack_of_room.hpp>
#include <inlay/testing/row_store_laws.hpp>
#include <inlay/testing/trial.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <list>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

namespace testing {

/// An organisation beside a store that never evicts, which it must equal, and beside a twin that is
/// spared every call that fails, to which it must stay equal.
template <row_organisation Rows, row_store Store>
class watched_rows {
 public:
  using key = typename Store::key;

  /// Two empty organisations over equal stores, and a third such store.
  watched_rows(Rows rows, Rows twin, Store oracle)
      : rows_(std::move(rows)), twin_(std::move(twin)), oracle_(std::move(oracle)) {}

  /// Steps that hold rows.
  [[nodiscard]] std::size_t steps_in_flight() const noexcept { return open_.size(); }

  /// Brings the rows of distinct keys as a step of its own, or expects the error of too many.
  void bring(trial& with, host_exec const& exec, std::vector<key> keys) {
    std::vector<std::uint32_t> counts(keys.size());
    for (auto& count : counts) {
      count = static_cast<std::uint32_t>(1 + with.skewed(9));
    }
    auto const lacking = lack(keys);
    open_step step;
    step.keys = std::move(keys);
    auto const rows_before = rows_.store().size();
    row_traffic traffic;
    try {
      traffic = rows_.bring(exec, view_of(step.keys), view_of(counts), next_, step.refs);
    } catch (error const& thrown) {
      with.require(rows_before == rows_.store().size(), "a step that does not fit creates no row");
      check_refused(with, step, lacking, thrown.sentence());
      return;
    }
    with.require(!lacking.must_refuse(), "a step that does not fit is an error");
    admit(with, exec, std::move(step), counts, traffic);
  }

  /// Writes weights and state of some rows of the step that has been open longest, as it should be
  /// that what it wrote is seen by steps opened since.
  void write(trial& with) {
    auto& step = open_.front();
    for (std::size_t u = 0; u < step.keys.size(); ++u) {
      if (with.chance(40)) continue;
      auto const value = [&] { return static_cast<float>(with.below(1 << 20)); };
      for (std::size_t i = 0; i < layout().dim; ++i) {
        step.truth[u][i] = step.refs.weights[u][i] = step.twins.weights[u][i] = value();
      }
      for (std::size_t i = 0; i < layout().state; ++i) {
        step.truth[u][layout().dim + i] = step.refs.state[u][i] = step.twins.state[u][i] = value();
      }
    }
    for (auto const& each : open_) {
      check_refs(with, each);
    }
  }

  /// Ends one of the open steps, not always the oldest.
  void release(trial& with) {
    auto const at = std::next(open_.begin(), static_cast<std::ptrdiff_t>(with.below(open_.size())));
    rows_.release(at->refs);
    twin_.release(at->twins);
    open_.erase(at);
  }

  /// Law: peek shows the rows as they are now, nullptr where nobody has touched them.
  void check_peek(trial const& with, std::vector<key> const& keys) const {
    std::vector<float const*> now(keys.size());
    std::vector<float const*> truth(keys.size());
    rows_.peek(view_of(keys), {now.data(), now.size()});
    oracle_.find(view_of(keys), {truth.data(), truth.size()});
    for (std::size_t i = 0; i < keys.size(); ++i) {
      with.require((now[i] == nullptr) == (truth[i] == nullptr), "peek knows which rows there are");
      with.require(now[i] == nullptr || same(now[i], truth[i], layout().dim),
                   "peek shows the weights as they are now");
    }
  }

  /// Law: after a flush the table equals the one that never had a cache before it.
  void check_flush(trial const& with, host_exec const& exec) {
    rows_.flush(exec);
    std::map<key, span<float const>> truth;
    oracle_.for_each([&](key row, span<float const> values) { truth.emplace(row, values); });
    with.require(rows_.store().size() == truth.size(), "no row is lost or made up");
    rows_.store().for_each([&](key row, span<float const> values) {
      auto const at = truth.find(row);
      with.require(at != truth.end() && same(values.data(), at->second.data(), values.size()),
                   "after a flush the table holds every row as it is");
    });
  }

 private:
  struct open_step {
    std::vector<key> keys;
    std::vector<float*> truth;  // rows of the oracle
    row_refs refs;
    row_refs twins;
  };

  [[nodiscard]] row_layout layout() const { return rows_.store().layout(); }
  [[nodiscard]] static bool same(float const* left, float const* right, std::size_t count) {
    return count == 0 || std::memcmp(left, right, count * sizeof(float)) == 0;
  }
  [[nodiscard]] static bool same(row_traffic const& left, row_traffic const& right) {
    return left.hits == right.hits && left.misses == right.misses &&
           left.evictions == right.evictions && left.write_backs == right.write_backs &&
           left.created == right.created && left.second_set == right.second_set &&
           left.spilled == right.spilled;
  }

  /// A step that was brought: the twin brings it as well, and both are as they should be.
  void admit(trial const& with, host_exec const& exec, open_step&& brought,
             std::vector<std::uint32_t> const& counts, row_traffic const& traffic) {
    auto& step = open_.emplace_back(std::move(brought));
    auto const count = step.keys.size();
    step.truth.resize(count);
    auto const created =
        oracle_.find_or_create(exec, view_of(step.keys), {step.truth.data(), count});
    auto const other = twin_.bring(exec, view_of(step.keys), view_of(counts), next_, step.twins);
    next_ = inlay::next(next_);
    with.require(traffic.created == created, "it creates the rows that nobody touched before");
    with.require(same(traffic, other), "the same accesses give the same traffic");
    check_traffic(with, traffic, count);
    check_refs(with, step);
  }

  /// What a step with these keys lacks beside the steps in flight.
  [[nodiscard]] lack_of_room lack(std::vector<key> const& keys) const {
    if constexpr (requires { rows_.sets(); }) {
      std::map<key, slot_id> held;
      for (auto const& step : open_) {
        for (std::size_t u = 0; u < step.keys.size(); ++u) {
          held[step.keys[u]] = step.refs.slots[u];
        }
      }
      return lack_of_room(rows_.sets(), std::move(held), keys);
    } else {
      return {};
    }
  }

  /// Law: a step that does not fit is an error that says where, what it needs and what there is,
  /// and changes nothing; to release its refs is harmless.
  void check_refused(trial const& with, open_step& step, lack_of_room const& lacking,
                     std::string const& sentence) {
    with.require(lacking.may_refuse(), "a step is refused only if it does not fit");
    with.require(lacking.is_named_by(sentence),
                 "the error of a step that does not fit names a full set, if there are several, "
                 "and the rows needed and available");
    rows_.release(step.refs);
    for (auto const& each : open_) {
      check_refs(with, each);
    }
    check_peek(with, step.keys);
  }

  void check_traffic(trial const& with, row_traffic const& traffic, std::size_t count) {
    with.require(traffic.unique == count && traffic.hits + traffic.misses == count,
                 "hits and misses add up to the step's rows");
    with.require(traffic.created <= traffic.misses, "rows that are created were missed");
    with.require(traffic.evictions <= traffic.misses, "rows leave only to make room");
    with.require(traffic.write_backs <= traffic.evictions, "rows are written back once");
    with.require(traffic.second_set + traffic.spilled <= traffic.misses,
                 "only rows that were missed go elsewhere");
    if constexpr (requires { rows_.sets(); }) {
      with.require(traffic.spilled == 0 || rows_.sets().always_fits(),
                   "rows are used in the table only where that was asked for");
      cached_ += traffic.misses - traffic.evictions - traffic.spilled;
      with.require(cached_ <= rows_.capacity(), "no more rows are cached than there are slots");
    }
  }

  /// Laws: refs show each row as it is; a row is in one place, and no two rows share one.
  void check_refs(trial const& with, open_step const& step) const {
    with.require(step.refs.weights.size() == step.keys.size() &&
                     step.refs.state.size() == step.keys.size(),
                 "a step has refs for every row");
    std::map<float const*, key> owners;
    for (auto const& each : open_) {
      for (std::size_t u = 0; u < each.keys.size(); ++u) {
        auto const owner = owners.try_emplace(each.refs.weights[u], each.keys[u]).first->second;
        with.require(owner == each.keys[u], "no two rows share a place");
      }
    }
    std::set<key> const keys(step.keys.begin(), step.keys.end());
    with.require(static_cast<std::size_t>(std::count_if(
                     owners.begin(), owners.end(),
                     [&](auto const& one) { return keys.contains(one.second); })) == keys.size(),
                 "a row is in one place, whichever steps use it");
    for (std::size_t u = 0; u < step.keys.size(); ++u) {
      check_set(with, step.keys[u], step.refs, u);
      with.require(same(step.refs.weights[u], step.truth[u], layout().dim),
                   "a step finds the weights as they were left");
      with.require(same(step.refs.state[u], step.truth[u] + layout().dim, layout().state),
                   "a step finds the optimizer's state as it was left");
    }
  }

  /// Law: a row is in one of its sets.
  void check_set(trial const& with, key row, row_refs const& refs, std::size_t u) const {
    if constexpr (requires { rows_.sets(); }) {
      if (refs.slots[u] == no_way) return;
      auto const set = refs.slots[u] / rows_.sets().set_size();
      auto const [first, second] = rows_.sets().sets_of(hash(row));
      with.require(set == first || set == second, "a row is in one of its sets");
    }
  }

  Rows rows_;
  Rows twin_;
  Store oracle_;
  std::list<open_step> open_;
  step_id next_{};
  std::uint64_t cached_ = 0;
};

/// Random steps through a cache of `capacity` rows, overlapping, with peeks and flushes between.
template <key_packing Keys, class MakeRows, class MakeStore>
void check_traffic_of(MakeRows const& make_rows, MakeStore const& make_store, std::size_t capacity,
                      std::uint64_t seed) {
  trial with("the organisation with " + std::to_string(capacity) + " rows", seed);
  watched_rows watched(make_rows(capacity), make_rows(capacity), make_store());
  std::vector<host_exec> const execs{host_exec(1), host_exec(3)};
  for (std::size_t event = 0; event < 400; ++event) {
    auto const& exec = execs[with.below(execs.size())];
    auto const kind = with.below(100);
    auto const in_flight = watched.steps_in_flight();
    if (kind < 40 && in_flight < 4) {
      auto const most = with.chance(20) ? 3 * capacity : capacity;
      watched.bring(with, exec, distinct_keys<Keys>(with, with.below(most + 2), 2, 4 * capacity));
    } else if (kind < 65 && in_flight > 0) {
      watched.write(with);
    } else if (kind < 90 && in_flight > 0) {
      watched.release(with);
    } else if (kind < 97) {
      watched.check_peek(with, distinct_keys<Keys>(with, 20, 2, 5 * capacity));
    } else {
      watched.check_flush(with, exec);
    }
  }
  watched.check_flush(with, execs[0]);
}

/// Checks the laws of `row_organisation`; throws `error` with the one that is broken.
/// `make_rows(capacity)` opens an organisation over an empty store, of a capacity that is a
/// multiple of `unit`; `make_store()` a store of the same seed for at least two tables.
template <key_packing Keys = narrow, class MakeRows, class MakeStore>
void check_row_organisation(MakeRows const& make_rows, MakeStore const& make_store,
                            std::uint64_t seed = 1, std::size_t unit = 1) {
  std::set<std::size_t> capacities;
  for (auto const capacity : {1U, 2U, 3U, 5U, 16U, 150U}) {
    capacities.insert((capacity + unit - 1) / unit * unit);
  }
  for (auto const capacity : capacities) {
    check_traffic_of<Keys>(make_rows, make_store, capacity, seed);
  }
}

}  // namespace testing

}  // namespace inlay::inline INLAY_ABI
