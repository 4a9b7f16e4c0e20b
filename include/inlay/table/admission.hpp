#pragma once

#include <inlay/core/checks_knobs.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/core/views.hpp>
#include <inlay/vsid/keys.hpp>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// What a part remembers of keys, made from the part: one `state` on each rank for the rows of a
/// width.
template <class T, class Key>
concept has_admission_state = std::move_constructible<typename T::template state<Key>> &&
                              std::constructible_from<typename T::template state<Key>, T const&>;

/// Answers whether a key that has no row gets one, by how often it occurs in this step.
template <class T, class Key>
concept admits_keys = requires(T state, Key key, std::uint32_t count, step_id step) {
  { state.admit(key, count, step) } -> std::same_as<bool>;
};

/// Says what it costs: `bytes()` of memory, and how many keys it has forgotten so far for want of
/// room, `dropped()`.
template <class T>
concept reports_admission = requires(T const state) {
  { state.bytes() } -> std::same_as<std::size_t>;
  { state.dropped() } -> std::same_as<std::uint64_t>;
};

/// Decides which keys get a row at all: most ids of a click log occur once and never again, and
/// their rows are never learnt. A refused key reads its initial row, and its gradient is dropped.
///
/// A state is asked once a step for each distinct key that has no row, in order of first
/// appearance. Who is admitted has a row from then on and is not asked for again, unless that row
/// is erased: then it is a new key. Steps are batches here: each has a number of its own, the same
/// on all ranks. The same accesses get the same answers; chance is drawn from key and step, never
/// from how many were asked for before, for that differs with the number of ranks.
/// Laws: testing/admission_laws.hpp.
///
/// One member more is optional: `prepare(span<Key const>)` is called before some keys are asked
/// for, asks for the memory that this will touch and changes no answer.
template <class T, class Key = narrow::key>
concept admission = std::copy_constructible<T> && checks_knobs<T> && has_admission_state<T, Key> &&
                    admits_keys<typename T::template state<Key>, Key> &&
                    reports_admission<typename T::template state<Key>>;

/// True of a part that admits every key: an engine need not ask it.
template <class T>
concept admits_all = requires { requires T::admits_all; };

/// Asks a state for the keys of a step that have no row, distinct and in order of first appearance,
/// and calls visit(i, admitted) for each. If memory runs out, those visited have been counted.
template <class State, class Key, class Visit>
  requires admits_keys<State, Key>
void admit_each(State& state, step_id step, span<Key const> keys, span<std::uint32_t const> counts,
                Visit&& visit) {
  constexpr std::size_t at_once = 256;  // so that what was prepared is still in the first cache
  for (std::size_t first = 0; first < keys.size(); first += at_once) {
    auto const last = std::min(keys.size(), first + at_once);
    if constexpr (requires { state.prepare(keys); }) {
      state.prepare(keys.subspan(first, last - first));
    }
    for (auto i = first; i < last; ++i) {
      visit(i, state.admit(keys[i], counts[i], step));
    }
  }
}

}  // namespace inlay::inline INLAY_ABI
