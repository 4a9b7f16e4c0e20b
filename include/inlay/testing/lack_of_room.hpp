#pragma once

#include <inlay/cache/cache_policy.hpp>
#include <inlay/core/ids.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <vector>

namespace inlay::inline INLAY_ABI {

namespace testing {

/// The sets of a cache where a step lacks ways beside the steps in flight, found from what can be
/// seen: which rows those hold, and in which sets a row may be. A row that no step holds may be in
/// either of two sets, so there are steps of which nobody outside can tell whether they fit.
class lack_of_room {
 public:
  /// Every step fits.
  lack_of_room() = default;

  /// Of a step's keys in the sets of a cache, with the slots of all rows that steps in flight hold.
  template <class Sets, class Key>
  lack_of_room(Sets const& sets, std::map<Key, slot_id> held, std::vector<Key> const& keys)
      : several_(sets.capacity() > sets.set_size()) {
    if (sets.always_fits()) return;
    std::map<std::size_t, needs> all;
    auto const of = [&](std::size_t set) -> needs& {
      return all.try_emplace(set, needs{set, sets.set_size(), 0, 0}).first->second;
    };
    for (auto const key : keys) {
      auto may_be = sets.sets_of(hash(key));
      if (auto const at = held.find(key); at != held.end()) {
        may_be.fill(at->second / sets.set_size());
        held.erase(at);
      }
      ++of(may_be[0]).most;
      ++(may_be[0] == may_be[1] ? of(may_be[0]).least : of(may_be[1]).most);
    }
    for (auto const& [key, slot] : held) {
      --of(slot / sets.set_size()).available;
    }
    must_refuse_ = keys.size() + held.size() > sets.capacity();
    judge(all);
    may_refuse_ = std::any_of(keys.begin(), keys.end(), [&](Key key) {
      auto const may_be = sets.sets_of(hash(key));
      return is_full(may_be[0]) && is_full(may_be[1]);
    });
  }

  /// Whether the step has reason to fail.
  [[nodiscard]] bool may_refuse() const noexcept { return may_refuse_; }
  /// Whether it can't but fail.
  [[nodiscard]] bool must_refuse() const noexcept { return must_refuse_; }

  /// Whether a sentence names one of the sets, if there are several, and what is needed and
  /// available there.
  [[nodiscard]] bool is_named_by(std::string const& sentence) const {
    auto const says = [&](char const* before, std::size_t number) {
      return sentence.find(before + std::to_string(number) + " ") != std::string::npos;
    };
    return std::any_of(full_.begin(), full_.end(), [&](needs const& set) {
      return (!several_ || says(" set ", set.set)) && says(" can have ", set.available) &&
             (set.least < set.most || says(" needs ", set.most));
    });
  }

 private:
  struct needs {
    std::size_t set;
    std::size_t available;  // ways that no other step holds
    std::size_t most;       // rows of the step that may need one
    std::size_t least;      // rows of the step that do
  };

  void judge(std::map<std::size_t, needs> const& all) {
    for (auto const& [number, set] : all) {
      if (set.most > set.available) full_.push_back(set);
      must_refuse_ = must_refuse_ || set.least > set.available;
    }
  }

  [[nodiscard]] bool is_full(std::size_t set) const {
    return std::any_of(full_.begin(), full_.end(),
                       [&](needs const& one) { return one.set == set; });
  }

  bool several_ = false;
  std::vector<needs> full_;
  bool may_refuse_ = false;
  bool must_refuse_ = false;
};

}  // namespace testing

}  // namespace inlay::inline INLAY_ABI
