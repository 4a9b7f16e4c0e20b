#pragma once

#include <inlay/core/hash.hpp>
#include <inlay/core/views.hpp>
#include <inlay/table/admission.hpp>
#include <inlay/testing/trial.hpp>
#include <inlay/vsid/keys.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <set>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

namespace testing {

/// What a step asks for: distinct keys without a row, how often each occurs, and who got a row.
struct asked_step {
  step_id step{};                     ///< of the batch
  std::vector<narrow::key> keys;      ///< distinct
  std::vector<std::uint32_t> counts;  ///< of the keys
  std::vector<std::uint8_t> answers;  ///< true for those that were admitted
};

/// Asks for all keys of a step together and keeps the answers.
template <class State>
void ask(State& state, asked_step& asked) {
  asked.answers.assign(asked.keys.size(), 2);
  admit_each(state, asked.step, span<narrow::key const>(asked.keys.data(), asked.keys.size()),
             span<std::uint32_t const>(asked.counts.data(), asked.counts.size()),
             [&](std::size_t i, bool admitted) { asked.answers[i] = admitted ? 1 : 0; });
}

/// Random steps over some ids: few that occur often, many that hardly do, two tables.
class random_askings {
 public:
  /// Over so many ids.
  explicit random_askings(std::size_t ids) : ids_(ids) {}

  /// The next step: its keys without a row, in order of first appearance.
  [[nodiscard]] asked_step next(trial& with) {
    asked_step asked{.step = step_, .keys = {}, .counts = {}, .answers = {}};
    std::set<narrow::key> seen;
    auto const occurrences = with.below(2 * ids_);
    for (std::size_t i = 0; i < occurrences; ++i) {
      auto const key = narrow::pack(table_id{with.chance(50) ? std::uint16_t{0} : std::uint16_t{9}},
                                    with.skewed(ids_));
      if (rows_.contains(key) || !seen.insert(key).second) continue;
      asked.keys.push_back(key);
      asked.counts.push_back(1 + static_cast<std::uint32_t>(with.skewed(4)));
    }
    step_ = inlay::next(step_);
    return asked;
  }

  /// Who was admitted has a row from now on; a few rows are erased again.
  void create(trial& with, asked_step const& asked) {
    for (std::size_t i = 0; i < asked.keys.size(); ++i) {
      if (asked.answers[i] == 1) rows_.insert(asked.keys[i]);
    }
    if (!rows_.empty() && with.chance(20)) rows_.erase(rows_.begin());
  }

 private:
  std::size_t ids_;
  step_id step_{};
  std::set<narrow::key> rows_;
};

/// Laws: two states that are asked the same, one for whole steps and one for key after key, one
/// that is moved meanwhile and one that stays, answer the same; so does one that is asked again
/// later. What was dropped stays dropped.
template <admission Admission>
void check_same_answers(trial& with, Admission const& part, std::size_t ids) {
  using state = typename Admission::template state<narrow::key>;
  state whole(part);
  auto single = std::make_unique<state>(Admission(part));
  random_askings askings(ids);
  std::vector<asked_step> log;
  for (int round = 0; round < 60; ++round) {
    auto asked = askings.next(with);
    auto const dropped = whole.dropped();
    ask(whole, asked);
    with.require(whole.dropped() >= dropped, "the count of what was dropped never falls");
    single = std::make_unique<state>(std::move(*single));
    for (std::size_t i = 0; i < asked.keys.size(); ++i) {
      auto const admitted = single->admit(asked.keys[i], asked.counts[i], asked.step);
      with.require(admitted == (asked.answers[i] == 1), "the same accesses get the same answers");
    }
    with.require(single->dropped() == whole.dropped(), "the same accesses drop the same counts");
    askings.create(with, asked);
    log.push_back(std::move(asked));
  }
  state later(part);
  for (auto const& asked : log) {
    auto again = asked;
    ask(later, again);
    with.require(again.answers == asked.answers,
                 "the same accesses get the same answers whenever they are made");
  }
}

/// Checks the laws of `admission`; throws `error` with the one that is broken.
template <admission Admission>
void check_admission(Admission const& part, std::uint64_t seed = 1) {
  part.check();
  trial with("the admission", seed);
  for (std::size_t const ids : {3U, 40U, 900U}) {
    check_same_answers(with, part, ids);
  }
}

/// Checks a law that training by several ranks needs if it is to equal training by one: while no
/// count is dropped, the answer about a key does not depend on which other keys are asked for.
template <admission Admission>
void check_admission_by_shards(Admission const& part, std::uint64_t seed = 1) {
  using state = typename Admission::template state<narrow::key>;
  constexpr std::size_t shards = 3;
  trial with("the admission", seed);
  state whole(part);
  std::vector<state> owners;
  owners.reserve(shards);
  for (std::size_t shard = 0; shard < shards; ++shard) {
    owners.emplace_back(part);
  }
  random_askings askings(500);
  for (int round = 0; round < 60; ++round) {
    auto asked = askings.next(with);
    ask(whole, asked);
    std::uint64_t dropped = whole.dropped();
    for (std::size_t i = 0; i < asked.keys.size(); ++i) {
      auto& owner = owners[hash(asked.keys[i]) % shards];
      auto const admitted = owner.admit(asked.keys[i], asked.counts[i], asked.step);
      dropped += owner.dropped();
      with.require(dropped > 0 || admitted == (asked.answers[i] == 1),
                   "the answer about a key does not depend on other keys");
    }
    if (dropped > 0) return;
    askings.create(with, asked);
  }
}

}  // namespace testing

}  // namespace inlay::inline INLAY_ABI
