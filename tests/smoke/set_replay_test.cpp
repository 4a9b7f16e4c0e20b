#include <inlay/sim/set_replay.hpp>

#include "own_cache_policy.hpp"

#include <inlay/cache/arc.hpp>
#include <inlay/cache/clock.hpp>
#include <inlay/cache/fifo.hpp>
#include <inlay/cache/lfu.hpp>
#include <inlay/cache/look_ahead.hpp>
#include <inlay/cache/lru.hpp>
#include <inlay/cache/policy_slots.hpp>
#include <inlay/cache/s3_fifo.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/cache/w_tiny_lfu.hpp>
#include <inlay/core/device_exec.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/random.hpp>
#include <inlay/sim/read_trace.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <map>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#if INLAY_HAS_THRUST
#include <thrust/device_vector.h>
#endif

// One policy, three homes: sets of a cache on the host, in a Thrust loop and in a kernel.

namespace {

using key = inlay::narrow::key;
using inlay::set_outcome;

constexpr std::uint32_t ways = 16;

struct replayed {
  std::vector<set_outcome> outcomes;
  std::vector<key> victims;  // those of replaced ways

  [[nodiscard]] friend bool operator==(replayed const& a, replayed const& b) {
    return a.outcomes == b.outcomes && a.victims == b.victims;
  }
};

replayed keep_victims(std::vector<set_outcome> outcomes, std::vector<key> const& victims) {
  replayed result{std::move(outcomes), {}};
  for (std::size_t at = 0; at < victims.size(); ++at) {
    if (result.outcomes[at] == set_outcome::replaced) result.victims.push_back(victims[at]);
  }
  return result;
}

/// Each request alone, by the states that a fully associative cache has: an oracle.
template <class Policy>
replayed by_policy_slots(std::vector<key> const& trace, std::size_t sets) {
  struct one_set {
    inlay::policy_slots<Policy> slots{Policy{}, ways};
    std::map<key, inlay::way_id> where;
    std::vector<key> owners;
  };
  std::vector<one_set> all(sets);
  replayed result;
  for (std::size_t at = 0; at < trace.size(); ++at) {
    auto const row = trace[at];
    auto& set = all[inlay::set_of(hash(row), sets)];
    inlay::cache_access const use{.hash = hash(row),
                                  .step = inlay::step_id{static_cast<std::int64_t>(at)}};
    if (auto const found = set.where.find(row); found != set.where.end()) {
      set.slots.on_hit(found->second, use);
      result.outcomes.push_back(set_outcome::hit);
      continue;
    }
    auto way = static_cast<inlay::way_id>(set.owners.size());
    if (set.owners.size() < ways) {
      set.owners.push_back(row);
      result.outcomes.push_back(set_outcome::filled);
    } else {
      way = set.slots.victim(use, inlay::detail::nothing_pinned{});
      set.slots.on_evict(way);
      result.victims.push_back(set.owners[way]);
      result.outcomes.push_back(set_outcome::replaced);
      set.where.erase(set.owners[way]);
      set.owners[way] = row;
    }
    set.where[row] = way;
    set.slots.on_insert(way, use);
  }
  return result;
}

template <class Policy>
replayed on_host(inlay::requests_by_set const& requests, std::size_t threads) {
  using replay = inlay::set_replay<Policy, ways>;
  auto const sets = requests.offsets.size() - 1;
  std::vector<typename replay::set_type> states(sets);
  std::vector<set_outcome> outcomes(requests.keys.size());
  std::vector<key> victims(requests.keys.size());
  replay const body{{},
                    {states.data(), sets},
                    requests.keys.view(),
                    requests.places.view(),
                    requests.offsets.view(),
                    {outcomes.data(), outcomes.size()},
                    {victims.data(), victims.size()}};
  inlay::host_exec(threads).for_each(sets, body);
  return keep_victims(std::move(outcomes), victims);
}

#if INLAY_HAS_THRUST
template <class Vector>
auto view_of(Vector& vector) {
  auto* const first = thrust::raw_pointer_cast(vector.data());
  return inlay::span<std::remove_reference_t<decltype(*first)>>(first, vector.size());
}

template <class Policy>
replayed on_device(inlay::requests_by_set const& requests) {
  using replay = inlay::set_replay<Policy, ways>;
  auto const sets = requests.offsets.size() - 1;
  thrust::device_vector<key> const keys(requests.keys.begin(), requests.keys.end());
  thrust::device_vector<std::uint32_t> const places(requests.places.begin(), requests.places.end());
  thrust::device_vector<std::uint32_t> const offsets(requests.offsets.begin(),
                                                     requests.offsets.end());
  thrust::device_vector<typename replay::set_type> states(sets);
  thrust::device_vector<set_outcome> outcomes(keys.size());
  thrust::device_vector<key> victims(keys.size());
  inlay::device_exec const exec;
  exec.for_each(sets, replay{{},
                             view_of(states),
                             view_of(keys),
                             view_of(places),
                             view_of(offsets),
                             view_of(outcomes),
                             view_of(victims)});
  exec.wait();
  std::vector<set_outcome> seen(outcomes.size());
  std::vector<key> gone(victims.size());
  thrust::copy(outcomes.begin(), outcomes.end(), seen.begin());
  thrust::copy(victims.begin(), victims.end(), gone.begin());
  return keep_victims(std::move(seen), gone);
}
#endif

template <class Policy>
void check_homes(std::vector<key> const& trace, std::size_t sets) {
  CAPTURE(Policy::name);
  inlay::requests_by_set const requests({trace.data(), trace.size()}, sets);
  auto const one = on_host<Policy>(requests, 1);
  CHECK(one == by_policy_slots<Policy>(trace, sets));
  CHECK(one == on_host<Policy>(requests, 3));
#if INLAY_HAS_THRUST
  if (!inlay::device_exec::is_available()) {
    MESSAGE("compiled, not run: there is no GPU");
    return;
  }
  CHECK(one == on_device<Policy>(requests));
#endif
}

void check_all_policies(std::vector<key> const& trace, std::size_t sets) {
  check_homes<inlay::fifo>(trace, sets);
  check_homes<inlay::lru>(trace, sets);
  check_homes<inlay::clock>(trace, sets);
  check_homes<inlay::lfu>(trace, sets);
  check_homes<inlay::sieve>(trace, sets);
  check_homes<inlay::s3_fifo>(trace, sets);
  check_homes<inlay::arc>(trace, sets);
  check_homes<inlay::w_tiny_lfu>(trace, sets);
  check_homes<inlay::look_ahead>(trace, sets);
  check_homes<own::slru>(trace, sets);
}

}  // namespace

TEST_CASE("set_replay: every policy evicts the same victims in every home") {
  inlay::random_stream const random{inlay::mix(5)};
  std::vector<key> trace;
  for (std::uint64_t n = 0; n < 20'000; ++n) {
    auto const u = random.uniform_double(n);
    trace.push_back({static_cast<std::uint64_t>(3000 * u * u * u)});
  }
  for (std::size_t const sets : {1U, 7U, 64U}) {
    CAPTURE(sets);
    check_all_policies(trace, sets);
  }
  check_all_policies({}, 3);
  check_all_policies({{7}}, 1);
}

TEST_CASE("set_replay: every policy evicts the same victims in every home, on real traces") {
  auto const* const folder = std::getenv("INLAY_DATA");
  for (auto const* name : {"scarab_200k", "web12", "corda", "sprite", "two_pools"}) {
    auto const path = std::string(folder != nullptr ? folder : ".") + "/trace_" + name + ".u32";
    if (!std::filesystem::exists(path)) {
      std::cout << "skipped: no data (set INLAY_DATA to replay " << name << ")\n";
      continue;
    }
    CAPTURE(name);
    auto const trace = inlay::read_trace(path);
    check_all_policies({trace.keys().begin(), trace.keys().end()}, 44);
  }
}
