#include <inlay/exchange/row_exchange.hpp>

#include "deadlines.hpp"

#include <inlay/core/dyadic_nodes.hpp>
#include <inlay/core/sums.hpp>
#include <inlay/exchange/owner_all_to_all.hpp>
#include <inlay/exchange/owner_of.hpp>
#include <inlay/exchange/run_ranks.hpp>
#include <inlay/exchange/thread_comm.hpp>
#include <inlay/exchange/virtual_all_reduce.hpp>
#include <inlay/exchange/virtual_gather_scatter.hpp>
#include <inlay/testing/trial.hpp>
#include <inlay/vsid/hash_mapper.hpp>
#include <inlay/vsid/wide.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

using inlay::buffer;
using inlay::host_exec;
using inlay::id_plan;
using inlay::run_ranks;
using inlay::span;
using inlay::sum_order;
using inlay::thread_comm;
using inlay::tree_sum;
using inlay::testing::trial;

namespace {

using key = inlay::narrow::key;
using bits = std::vector<std::uint32_t>;

bits bits_of(float const* values, std::size_t count) {
  bits result;
  for (std::size_t i = 0; i < count; ++i) {
    result.push_back(std::bit_cast<std::uint32_t>(values[i]));
  }
  return result;
}

/// The row of a key, as its owner has it; never -0.
std::vector<float> row_of(key packed, std::size_t dim) {
  std::vector<float> row(dim);
  for (std::size_t i = 0; i < dim; ++i) {
    row[i] = 1.0F + inlay::random_stream{hash(packed)}.uniform(i);
  }
  return row;
}

/// A global batch: the keys of each chunk, and which chunks each rank has, one behind the other.
struct global_batch {
  std::vector<std::vector<key>> chunks;
  std::vector<std::uint32_t> cuts;  // (ranks + 1)

  global_batch(trial& draw, std::size_t ranks) : cuts(ranks + 1) {
    chunks.resize(draw.below(4) == 0 ? draw.below(4) : draw.below(23));
    auto const rows = 1 + draw.below(200);
    for (auto& chunk : chunks) {
      for (auto keys = draw.below(40); keys > 0; --keys) {
        auto const table = static_cast<std::uint16_t>(draw.below(2));
        chunk.push_back(inlay::narrow::pack(inlay::table_id{table}, draw.skewed(rows)));
      }
    }
    for (auto& cut : cuts) {
      cut = static_cast<std::uint32_t>(draw.below(chunks.size() + 1));
    }
    cuts.front() = 0;
    cuts.back() = static_cast<std::uint32_t>(chunks.size());
    std::sort(cuts.begin(), cuts.end());
  }

  [[nodiscard]] id_plan<key> plan(std::uint32_t first, std::uint32_t last) const {
    std::vector<key> keys;
    for (auto chunk = first; chunk < last; ++chunk) {
      keys.insert(keys.end(), chunks[chunk].begin(), chunks[chunk].end());
    }
    id_plan<key> result;
    inlay::hash_mapper::workspace<key> work;
    inlay::hash_mapper{}.map(host_exec(1), span<key const>(keys.data(), keys.size()), work, result);
    return result;
  }
  [[nodiscard]] id_plan<key> plan_of(std::size_t rank) const {
    return plan(cuts[rank], cuts[rank + 1]);
  }
  [[nodiscard]] bool has(std::uint32_t chunk, key wanted) const {
    return std::find(chunks[chunk].begin(), chunks[chunk].end(), wanted) != chunks[chunk].end();
  }

  /// What a chunk adds to the gradient of a key; some are -0.
  [[nodiscard]] static std::vector<float> gradient(std::uint32_t chunk, key packed,
                                                   std::size_t dim) {
    inlay::random_stream const random{inlay::mix(hash(packed), chunk)};
    std::vector<float> values(dim, -0.0F);
    for (std::size_t i = 0; i < dim; ++i) {
      if (random.bits(500 + i) % 8 == 0) continue;
      values[i] = random.normal(i) * static_cast<float>(1U << (random.bits(100 + i) % 20));
    }
    return values;
  }

  /// Adds up a key's gradient along the tree; nothing if no chunk of [first, last) has it.
  [[nodiscard]] std::vector<float> along_tree(std::uint32_t first, std::uint32_t last, key packed,
                                              std::size_t dim) const {
    tree_sum tree(dim);
    auto found = false;
    for (auto chunk = first; chunk < last; ++chunk) {
      if (!has(chunk, packed)) continue;
      std::copy_n(gradient(chunk, packed, dim).data(), dim, tree.open(chunk));
      found = true;
    }
    if (!found) return {};
    return {tree.total(), tree.total() + dim};
  }

  /// Each rank's sum along its own tree, these in the order of ranks.
  [[nodiscard]] std::vector<float> by_rank(key packed, std::size_t dim) const {
    std::vector<float> sum;
    for (std::size_t rank = 0; rank + 1 < cuts.size(); ++rank) {
      auto const more = along_tree(cuts[rank], cuts[rank + 1], packed, dim);
      if (sum.empty()) {
        sum = more;
      } else if (!more.empty()) {
        inlay::add(sum.data(), more.data(), dim);
      }
    }
    return sum;
  }
};

/// A rank's shares, and what they lie in.
struct shares {
  std::vector<std::uint32_t> ends;
  std::vector<std::uint32_t> chunks;
  std::vector<float> values;

  shares(global_batch const& batch, std::size_t rank, id_plan<key> const& plan, std::size_t dim,
         sum_order order) {
    auto const first = batch.cuts[rank];
    auto const last = batch.cuts[rank + 1];
    buffer<std::uint32_t> nodes;
    inlay::dyadic_nodes(first, last, nodes);
    if (order == sum_order::by_rank) nodes.assign(1, first);
    for (auto const packed : plan.unique) {
      for (std::size_t n = 0; n < nodes.size(); ++n) {
        auto const end = n + 1 < nodes.size() ? nodes[n + 1] : last;
        auto const sum = batch.along_tree(nodes[n], end, packed, dim);
        if (sum.empty()) continue;
        chunks.push_back(nodes[n]);
        values.insert(values.end(), sum.begin(), sum.end());
      }
      ends.push_back(static_cast<std::uint32_t>(chunks.size()));
    }
  }

  [[nodiscard]] inlay::gradient_partials view(sum_order order) const {
    return {{ends.data(), ends.size()}, {chunks.data(), chunks.size()}, values.data(), order};
  }
};

/// One step of an exchange on one rank, against the serial oracle.
template <class Exchange>
struct checked_step {
  thread_comm const& comm;
  host_exec const& exec;
  global_batch const& batch;
  trial const& law;
  typename Exchange::template state<key>& state;
  id_plan<key> plan = batch.plan_of(comm.rank());

  /// The keys that this rank owns of the whole batch, in its order.
  void request() {
    state.request(comm, exec, plan, in_a_minute());
    auto const whole = batch.plan(0, batch.cuts.back());
    std::size_t k = 0;
    auto kept = true;
    for (std::size_t u = 0; u < whole.size(); ++u) {
      if (inlay::owner_of(hash(whole.unique[u]), comm.size()) != comm.rank()) continue;
      kept = kept && k < state.owned().size() && state.owned()[k] == whole.unique[u] &&
             state.owned_counts()[k] == whole.counts[u];
      ++k;
    }
    law.require(kept && k == state.owned().size() && k == state.owned_counts().size(),
                "owned keys are those of the whole batch in its order, with their counts");
  }

  void rows(std::size_t dim) {
    std::vector<std::vector<float>> table;
    std::vector<float const*> owned;
    table.reserve(state.owned().size());
    owned.reserve(state.owned().size());
    for (auto const packed : state.owned()) {
      table.push_back(row_of(packed, dim));
    }
    for (auto const& row : table) {
      owned.push_back(row.data());
    }
    buffer<float> local;
    state.rows(comm, exec, {owned.data(), owned.size()}, dim, in_a_minute(), local);
    law.require(local.size() == plan.size() * dim, "every distinct key of the rank gets a row");
    for (std::size_t v = 0; v < plan.size(); ++v) {
      law.require(bits_of(local.data() + v * dim, dim) ==
                      bits_of(row_of(plan.unique[v], dim).data(), dim),
                  "rows arrive as the owner has them");
    }
  }

  void gradients(std::size_t dim, sum_order order) {
    shares const mine(batch, comm.rank(), plan, dim, order);
    buffer<float> sums;
    state.gradients(comm, exec, mine.view(order), dim, in_a_minute(), sums);
    auto const owned = state.owned();
    law.require(sums.size() == owned.size() * dim, "every owned key gets a gradient");
    for (std::size_t k = 0; k < owned.size(); ++k) {
      auto const* const sum = sums.data() + k * dim;
      if (order == sum_order::along_tree) {
        auto const expected = batch.along_tree(0, batch.cuts.back(), owned[k], dim);
        law.require(bits_of(sum, dim) == bits_of(expected.data(), dim),
                    "the sum has the bits of one rank that has all chunks");
        continue;
      }
      auto const expected = batch.by_rank(owned[k], dim);
      if (std::string(Exchange::name) != "virtual_all_reduce") {
        law.require(bits_of(sum, dim) == bits_of(expected.data(), dim),
                    "shares are added in the order of ranks");
      }
      for (std::size_t i = 0; i < dim; ++i) {
        law.require(sum[i] == expected[i], "zeros of other ranks change no more than -0");
      }
    }
  }
};

template <class Exchange>
void check_exchange(std::uint64_t seed) {
  for (std::size_t const ranks : {1U, 2U, 3U, 4U, 7U}) {
    trial draw(Exchange::name + std::string(" of ") + std::to_string(ranks) + " ranks", seed);
    global_batch const first(draw, ranks);
    global_batch const second(draw, ranks);
    auto const threads = 1 + draw.below(3);
    run_ranks(ranks, [&](thread_comm const& comm) {
      host_exec const exec(threads);
      typename Exchange::template state<key> state;
      for (auto const* batch : {&first, &second}) {
        checked_step<Exchange> step{comm, exec, *batch, draw, state};
        step.request();
        for (std::size_t const dim : {1U, 4U, 9U}) {
          step.rows(dim);
          step.gradients(dim, sum_order::along_tree);
          step.gradients(dim, sum_order::by_rank);
        }
      }
    });
  }
}

/// Distinct keys by rank and owner, and shares that go to each: what traffic is made of.
struct census {
  std::size_t ranks;
  std::size_t distinct = 0;                        // of the whole batch
  std::vector<std::size_t> owned;                  // (ranks)
  std::vector<std::vector<std::size_t>> uses;      // (ranks, owners)
  std::vector<std::vector<std::size_t>> partials;  // (ranks, owners)

  census(global_batch const& batch, std::size_t count)
      : ranks(count), owned(count), uses(count, owned), partials(uses) {
    auto const whole = batch.plan(0, batch.cuts.back());
    distinct = whole.size();
    for (auto const packed : whole.unique) {
      ++owned[inlay::owner_of(hash(packed), ranks)];
    }
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      auto const plan = batch.plan_of(rank);
      shares const mine(batch, rank, plan, 1, sum_order::along_tree);
      for (std::size_t v = 0; v < plan.size(); ++v) {
        auto const owner = inlay::owner_of(hash(plan.unique[v]), ranks);
        ++uses[rank][owner];
        partials[rank][owner] += mine.ends[v] - (v == 0 ? 0 : mine.ends[v - 1]);
      }
    }
  }

  [[nodiscard]] std::size_t used(std::size_t rank) const {
    std::size_t sum = 0;
    for (auto const count : uses[rank])
      sum += count;
    return sum;
  }
  [[nodiscard]] std::size_t asked_of(std::size_t owner) const {
    std::size_t sum = 0;
    for (auto const& of_rank : uses)
      sum += of_rank[owner];
    return sum;
  }
  /// Along the tree, for all exchanges.
  [[nodiscard]] std::size_t tree_bytes(std::size_t rank, std::size_t dim) const {
    std::size_t sum = 0;
    for (std::size_t owner = 0; owner < ranks; ++owner) {
      if (owner != rank) sum += 4 * uses[rank][owner] + (4 + 4 * dim) * partials[rank][owner];
    }
    return sum;
  }
};

/// Bytes of request, rows, gradients by rank: by formula.
std::vector<std::size_t> formula(inlay::owner_all_to_all, census const& all, std::size_t r,
                                 std::size_t dim) {
  auto const own = all.uses[r][r];
  return {8 * (all.ranks - 1) + (sizeof(key) + 4) * (all.used(r) - own),
          4 * dim * (all.asked_of(r) - own), 4 * dim * (all.used(r) - own)};
}
std::vector<std::size_t> formula(inlay::virtual_all_reduce, census const& all, std::size_t r,
                                 std::size_t dim) {
  auto const ring = (2 * (all.ranks - 1) * all.distinct * dim * 4 + all.ranks - 1) / all.ranks;
  return {(all.ranks - 1) * (8 + (sizeof(key) + 4) * all.used(r)), ring, ring};
}
std::vector<std::size_t> formula(inlay::virtual_gather_scatter, census const& all, std::size_t r,
                                 std::size_t dim) {
  return {(all.ranks - 1) * (8 + (sizeof(key) + 4) * all.used(r)),
          4 * dim * (all.ranks - 1) * all.owned[r], 4 * dim * (all.distinct - all.owned[r])};
}

/// Returns the bytes of rows and gradients of all ranks.
template <class Exchange>
std::size_t check_traffic(global_batch const& batch, std::size_t ranks, trial const& law) {
  constexpr std::size_t dim = 16;
  census const all(batch, ranks);
  std::vector<std::size_t> total(ranks);
  run_ranks(ranks, [&](thread_comm const& comm) {
    host_exec const exec(1);
    typename Exchange::template state<key> state;
    checked_step<Exchange> step{comm, exec, batch, law, state};
    std::vector<std::size_t> marks{0};
    step.request();
    marks.push_back(comm.traffic());
    step.rows(dim);
    marks.push_back(comm.traffic());
    step.gradients(dim, sum_order::by_rank);
    marks.push_back(comm.traffic());
    auto const expected = formula(Exchange{}, all, comm.rank(), dim);
    for (std::size_t n = 0; n < 3; ++n) {
      law.require(marks[n + 1] - marks[n] == expected[n], "traffic is what the formula says");
    }
    total[comm.rank()] = marks[3] - marks[1];
    step.gradients(dim, sum_order::along_tree);
    law.require(comm.traffic() - marks[3] == all.tree_bytes(comm.rank(), dim),
                "traffic along the tree is what the formula says");
  });
  std::size_t sum = 0;
  for (auto const bytes : total)
    sum += bytes;
  return sum;
}

}  // namespace

TEST_CASE_TEMPLATE("row_exchange: rows and sums are those of one rank with all chunks", Exchange,
                   inlay::owner_all_to_all, inlay::virtual_all_reduce,
                   inlay::virtual_gather_scatter) {
  for (std::uint64_t seed = 0; seed < 25; ++seed) {
    CAPTURE(seed);
    check_exchange<Exchange>(seed);
  }
}

TEST_CASE("row_exchange: what travels is what the formulas say, and halves without zeros") {
  for (std::uint64_t seed = 100; seed < 115; ++seed) {
    CAPTURE(seed);
    for (std::size_t const ranks : {1U, 2U, 4U, 5U}) {
      trial draw("row_exchange", seed);
      global_batch const batch(draw, ranks);
      (void)check_traffic<inlay::owner_all_to_all>(batch, ranks, draw);
      auto const reduced = check_traffic<inlay::virtual_all_reduce>(batch, ranks, draw);
      auto const gathered = check_traffic<inlay::virtual_gather_scatter>(batch, ranks, draw);
      CHECK(reduced >= 2 * gathered);
      CHECK(reduced <= 2 * gathered + 2 * ranks);  // each is rounded up
    }
  }
}

TEST_CASE("row_exchange: alone on one rank, all goes to itself") {
  inlay::self_comm comm;
  host_exec const exec(1);
  trial draw("row_exchange", 7);
  global_batch const batch(draw, 1);
  auto const plan = batch.plan_of(0);
  inlay::owner_all_to_all::state<key> state;
  state.request(comm, exec, plan, in_a_minute());
  CHECK(std::equal(plan.unique.begin(), plan.unique.end(), state.owned().begin(),
                   state.owned().end()));
  CHECK(std::equal(plan.counts.begin(), plan.counts.end(), state.owned_counts().begin(),
                   state.owned_counts().end()));
}

TEST_CASE("row_exchange: wide keys travel too") {
  run_ranks(3, [](thread_comm const& comm) {
    host_exec const exec(1);
    std::vector<inlay::wide::key> keys;
    keys.reserve(20);
    for (std::uint64_t id = 0; id < 20; ++id) {
      keys.push_back({1, inlay::mix(id + comm.rank())});
    }
    id_plan<inlay::wide::key> plan;
    inlay::hash_mapper::workspace<inlay::wide::key> work;
    inlay::hash_mapper{}.map(exec, span<inlay::wide::key const>(keys.data(), 20), work, plan);
    inlay::virtual_gather_scatter::state<inlay::wide::key> state;
    state.request(comm, exec, plan, in_a_minute());
    std::vector<float> values;
    std::vector<float const*> rows;
    values.reserve(state.owned().size());
    rows.reserve(state.owned().size());
    for (auto const& owned : state.owned()) {
      values.push_back(static_cast<float>(owned.id >> 40U));
    }
    for (auto const& value : values) {
      rows.push_back(&value);
    }
    buffer<float> local;
    state.rows(comm, exec, {rows.data(), rows.size()}, 1, in_a_minute(), local);
    for (std::size_t v = 0; v < 20; ++v) {
      CHECK(local[v] == static_cast<float>(keys[v].id >> 40U));
    }
  });
}

TEST_CASE("row_exchange: what a caller owes is a sentence") {
  inlay::self_comm comm;
  host_exec const exec(1);
  trial draw("row_exchange", 5);
  global_batch const batch(draw, 1);
  auto const plan = batch.plan_of(0);
  REQUIRE(plan.size() > 1);
  inlay::owner_all_to_all::state<key> state;
  state.request(comm, exec, plan, in_a_minute());
  buffer<float> into;
  CHECK_THROWS_WITH_AS(state.rows(comm, exec, {}, 4, in_a_minute(), into),
                       doctest::Contains("one row an owned key"), inlay::error);
  shares mine(batch, 0, plan, 4, sum_order::along_tree);
  auto view = mine.view(sum_order::along_tree);
  view.ends = view.ends.first(1);
  CHECK_THROWS_WITH_AS(state.gradients(comm, exec, view, 4, in_a_minute(), into),
                       doctest::Contains("needs the end of its shares"), inlay::error);
  std::vector<std::uint32_t> const all_at_once(plan.size(),
                                               static_cast<std::uint32_t>(mine.chunks.size() + 1));
  view.ends = {all_at_once.data(), all_at_once.size()};
  CHECK_THROWS_WITH_AS(state.gradients(comm, exec, view, 4, in_a_minute(), into),
                       doctest::Contains("must ascend"), inlay::error);
  std::fill(mine.chunks.begin(), mine.chunks.end(), 0U);
  mine.ends.front() = 2;
  CHECK_THROWS_WITH_AS(
      state.gradients(comm, exec, mine.view(sum_order::along_tree), 4, in_a_minute(), into),
      doctest::Contains("in the order of chunks"), inlay::error);
}
