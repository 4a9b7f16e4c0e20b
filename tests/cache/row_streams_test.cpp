// A cache whose rows travel by streams that put work off, as those of a device do: whatever order
// the events leave open, every step finds every row as a map that never evicts has it.

#include <inlay/cache/row_streams.hpp>

#include <inlay/cache/cached_rows.hpp>
#include <inlay/cache/lru.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/cache/way_sets.hpp>
#include <inlay/core/shuffled_exec.hpp>
#include <inlay/table/host_table.hpp>
#include <inlay/table/uniform.hpp>
#include <inlay/testing/row_store_laws.hpp>
#include <inlay/testing/trial.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace {

using inlay::narrow;
using inlay::shuffled_exec;
using inlay::step_id;
using inlay::testing::trial;
using key = narrow::key;
using store = inlay::host_rows<narrow, inlay::uniform>;
using stream = shuffled_exec::stream;

constexpr std::size_t dim = 3;
constexpr std::size_t state = 2;

store make_store() {
  return inlay::host_table{}.open(
      inlay::new_row<narrow, inlay::uniform>{{}, 5, dim, {0.1F, 0.2F}, {0.5F, 0.25F}});
}

/// A step from its plan until it is let go.
struct lease {
  std::vector<key> keys;
  inlay::row_refs refs;
  stream::event arrived;
};

/// Random plans, begins, updates, drops and look-ups, in any order that an engine allows.
template <class Policy, class Sets = inlay::one_set>
class model_check {
 public:
  model_check(Sets sets, std::uint64_t seed)
      : with_("a cache on streams, " + std::to_string(sets.capacity()) + " rows", seed),
        exec_(seed),
        via_(exec_),
        compute_(exec_.open_stream()),
        rows_(Policy{}, std::move(sets), make_store()) {}

  void run(std::size_t events) {
    for (std::size_t event = 0; event < events; ++event) {
      auto const kind = with_.below(100);
      if (kind < 45) {
        plan();
      } else if (kind < 80 && !leases_.empty()) {
        train();
      } else if (kind < 88 && !leases_.empty()) {
        drop();
      } else if (kind < 97) {
        peek();
      } else {
        flush();
      }
    }
    flush();
  }

 private:
  void plan() {
    auto const most = std::min<std::size_t>(rows_.capacity(), 4);
    auto keys = inlay::testing::distinct_keys<narrow>(with_, with_.below(most + 1), 2,
                                                      3 * rows_.capacity());
    std::set<key> pinned(keys.begin(), keys.end());
    for (auto const& each : leases_) {
      pinned.insert(each->keys.begin(), each->keys.end());
    }
    if (pinned.size() > rows_.capacity() && !rows_.sets().always_fits()) return;
    auto next = std::make_unique<lease>();
    next->keys = std::move(keys);
    std::vector<std::uint32_t> const counts(next->keys.size(), 1);
    via_.wait(applied_);
    rows_.bring(exec_, via_, {next->keys.data(), next->keys.size()}, {counts.data(), counts.size()},
                step_id{step_++}, next->refs);
    next->arrived = via_.arrived();
    leases_.push_back(std::move(next));
  }

  /// A step: reads its rows, which must be as they were left, and moves them.
  void train() {
    auto const at = with_.below(leases_.size());
    auto& step = *leases_[at];
    compute_.wait(step.arrived);
    compute_.drain();
    for (std::size_t u = 0; u < step.keys.size(); ++u) {
      auto const& truth = row_of(step.keys[u]);
      with_.require(std::equal(truth.begin(), truth.begin() + dim, step.refs.weights[u]),
                    "a step finds the weights as they were left");
      with_.require(std::equal(truth.begin() + dim, truth.end(), step.refs.state[u]),
                    "a step finds the state as it was left");
    }
    auto done = std::shared_ptr<lease>(std::move(leases_[at]));
    leases_.erase(leases_.begin() + static_cast<std::ptrdiff_t>(at));
    auto const by = static_cast<float>(1 + with_.below(1000));
    for (auto const row : done->keys) {
      for (auto& value : row_of(row)) {
        value += by;
      }
    }
    compute_.submit([done, by] {
      for (std::size_t u = 0; u < done->keys.size(); ++u) {
        for (std::size_t i = 0; i < dim; ++i)
          done->refs.weights[u][i] += by;
        for (std::size_t i = 0; i < state; ++i)
          done->refs.state[u][i] += by;
      }
    });
    applied_ = compute_.record();
    rows_.release(done->refs);
  }

  void drop() {
    auto const at = with_.below(leases_.size());
    via_.wait(leases_[at]->arrived);  // nobody else does, and its rows may leave now
    rows_.release(leases_[at]->refs);
    dropped_.push_back(std::move(leases_[at]));  // its moves may be on their way
    leases_.erase(leases_.begin() + static_cast<std::ptrdiff_t>(at));
  }

  void settle() {
    compute_.drain();
    via_.drain();
    dropped_.clear();
  }

  void peek() {
    settle();
    auto const keys = inlay::testing::distinct_keys<narrow>(with_, 5, 2, 3 * rows_.capacity());
    std::vector<float const*> now(keys.size());
    rows_.peek({keys.data(), keys.size()}, {now.data(), now.size()});
    for (std::size_t i = 0; i < keys.size(); ++i) {
      if (now[i] == nullptr) continue;
      with_.require(std::equal(now[i], now[i] + dim, row_of(keys[i]).begin()),
                    "peek shows the weights as they are now");
    }
  }

  void flush() {
    settle();
    rows_.flush(exec_);
    rows_.store().for_each([&](key row, inlay::span<float const> values) {
      with_.require(std::equal(values.begin(), values.end(), row_of(row).begin()),
                    "after a flush the table holds every row as it is");
    });
  }

  /// What the row is now, had it never been in a cache.
  std::vector<float>& row_of(key row) {
    auto const at = truth_.try_emplace(row).first;
    if (at->second.empty()) {
      float* first = nullptr;
      (void)oracle_.find_or_create(inlay::host_exec(1), {&row, 1}, {&first, 1});
      at->second.assign(first, first + dim + state);
    }
    return at->second;
  }

  trial with_;
  shuffled_exec exec_;
  inlay::row_streams<stream> via_;
  stream compute_;
  inlay::cached_rows<Policy, store, Sets> rows_;
  store oracle_ = make_store();
  std::map<key, std::vector<float>> truth_;
  std::deque<std::unique_ptr<lease>> leases_;
  std::vector<std::unique_ptr<lease>> dropped_;
  stream::event applied_;
  std::int64_t step_ = 0;
};

}  // namespace

TEST_CASE("cached_rows: on streams that put work off no update is lost, under 1,000 seeds") {
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    auto const capacity = std::size_t{1} + seed % 9;
    if (seed % 2 == 0) {
      model_check<inlay::lru>(capacity, seed).run(60);
    } else {
      model_check<inlay::sieve>(capacity, seed).run(60);
    }
  }
}

TEST_CASE("cached_rows: nor where rows that find no way are used in the table meanwhile") {
  using two_ways = inlay::way_sets<key, 2>;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    two_ways sets(2 + seed % 4 * 2, inlay::set_overflow::spill);
    if (seed % 2 == 0) {
      model_check<inlay::lru, two_ways>(std::move(sets), seed).run(60);
    } else {
      model_check<inlay::sieve, two_ways>(std::move(sets), seed).run(60);
    }
  }
}
