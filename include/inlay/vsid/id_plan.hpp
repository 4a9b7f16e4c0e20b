#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/core/prefetch.hpp>
#include <inlay/vsid/keys.hpp>

#include <concepts>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// The distinct keys of a step and who uses them: virtual sparse ids (ScaleFreeCTR, section 3).
///
/// Forward reads `virtual_ids` (occurrence → unique key); backward walks the transpose, `offsets`
/// and `occurrences` (unique key → its occurrences, ascending), and so sums each row's gradient in
/// one place and in one order, without atomics.
template <class Key>
struct id_plan {
  buffer<Key> unique;                 // (U), in order of first appearance
  buffer<virtual_id> virtual_ids;     // (n): unique[virtual_ids[i]] == keys[i]
  buffer<std::uint32_t> counts;       // (U), occurrences of each
  buffer<std::uint32_t> offsets;      // (U + 1), into occurrences
  buffer<std::uint32_t> occurrences;  // (n), ascending within a key

  /// Distinct ids.
  [[nodiscard]] std::size_t size() const noexcept { return unique.size(); }
  /// Where a distinct id occurs, ascending.
  [[nodiscard]] span<std::uint32_t const> occurrences_of(std::size_t v) const noexcept {
    return occurrences.view().subspan(offsets[v], counts[v]);
  }
};

/// Fills `offsets` and `occurrences` from `virtual_ids` and `counts`: a counting sort.
template <class Key>
void transpose(id_plan<Key>& plan) {
  auto const count = plan.virtual_ids.size();
  plan.offsets.resize(plan.size() + 1);
  plan.occurrences.resize(count);
  plan.offsets[0] = 0;
  std::uint32_t end = 0;
  for (std::size_t v = 0; v < plan.size(); ++v) {
    plan.offsets[v + 1] = end;  // the cursor of v; it stands at the end of v when all are placed
    end += plan.counts[v];
  }
  auto* const cursors = plan.offsets.data() + 1;
  auto* const occurrences = plan.occurrences.data();
  with_prefetch<24>(
      count, [&](std::size_t i) { prefetch_line(occurrences + cursors[plan.virtual_ids[i]]); },
      [&](std::size_t i) {
        occurrences[cursors[plan.virtual_ids[i]]++] = static_cast<std::uint32_t>(i);
      });
}

template <class T, class Key>
concept maps_keys = requires(T const mapper, typename T::template workspace<Key>& work,
                             host_exec const& exec, span<Key const> keys, id_plan<Key>& plan) {
  { mapper.map(exec, keys, work, plan) } -> std::same_as<void>;
};

/// Turns the keys of a step into an `id_plan`. Laws: testing/mapper_laws.hpp.
template <class T, class Keys = narrow>
concept id_mapper = key_packing<Keys> && maps_keys<T, typename Keys::key>;

}  // namespace inlay::inline INLAY_ABI
