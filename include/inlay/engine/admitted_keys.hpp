#pragma once

#include <inlay/cache/row_refs.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/ids.hpp>
#include <inlay/core/views.hpp>
#include <inlay/table/admission.hpp>
#include <inlay/table/row_store.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// The keys of a step that have a row or get one, and rows of the step's own for those that are
/// refused: they read as new rows do, and what is done to them is forgotten with the step.
template <class Key>
class admitted_keys {
 public:
  /// Asks an admission for those that have no row yet.
  template <row_store Store, class Admission>
  void ask(Store const& store, Admission& admission, span<Key const> keys,
           span<std::uint32_t const> counts, step_id step) {
    known_.resize(keys.size());
    store.find(keys, known_.view());
    unknown_.clear();
    unknown_keys_.clear();
    unknown_counts_.clear();
    for (std::size_t u = 0; u < keys.size(); ++u) {
      if (known_[u] != nullptr) continue;
      unknown_.push_back(static_cast<std::uint32_t>(u));
      unknown_keys_.push_back(keys[u]);
      unknown_counts_.push_back(counts[u]);
    }
    refused_.clear();
    admit_each(admission, step, std::as_const(unknown_keys_).view(),
               std::as_const(unknown_counts_).view(), [&](std::size_t i, bool admitted) {
                 if (!admitted) refused_.push_back(unknown_[i]);
               });
    list(keys, counts);
    make_rows(store, keys);
  }

  /// Those that have a row or get one, in their order.
  [[nodiscard]] span<Key const> keys() const noexcept { return keys_.view(); }
  /// How often they occur. // as keys()
  [[nodiscard]] span<std::uint32_t const> counts() const noexcept { return counts_.view(); }
  /// How many are refused.
  [[nodiscard]] std::size_t refused() const noexcept { return refused_.size(); }

  /// Puts the rows of the refused between those that were brought for `keys()`.
  void spread(row_refs& refs, row_layout layout) {
    auto from = refs.weights.size();
    auto left = refused_.size();
    refs.weights.grow(from + left);
    refs.state.grow(from + left);
    for (auto u = refs.weights.size(); left > 0; --u) {
      if (refused_[left - 1] == u - 1) {
        --left;
        refs.weights[u - 1] = rows_.data() + left * layout.floats();
        refs.state[u - 1] = refs.weights[u - 1] + layout.dim;
      } else {
        --from;
        refs.weights[u - 1] = refs.weights[from];
        refs.state[u - 1] = refs.state[from];
      }
    }
  }

 private:
  void list(span<Key const> keys, span<std::uint32_t const> counts) {
    keys_.clear();
    counts_.clear();
    std::size_t next = 0;
    for (std::size_t u = 0; u < keys.size(); ++u) {
      if (next < refused_.size() && refused_[next] == u) {
        ++next;
        continue;
      }
      keys_.push_back(keys[u]);
      counts_.push_back(counts[u]);
    }
  }

  template <class Store>
  void make_rows(Store const& store, span<Key const> keys) {
    auto const floats = store.layout().floats();
    rows_.resize(refused_.size() * floats);
    for (std::size_t r = 0; r < refused_.size(); ++r) {
      store.maker().whole(keys[refused_[r]], rows_.data() + r * floats);
    }
  }

  buffer<float const*> known_;            // (keys of the step)
  buffer<std::uint32_t> unknown_;         // places of those without a row
  buffer<Key> unknown_keys_;              // as unknown_
  buffer<std::uint32_t> unknown_counts_;  // as unknown_
  buffer<std::uint32_t> refused_;         // places, ascending
  buffer<Key> keys_;
  buffer<std::uint32_t> counts_;  // as keys_
  buffer<float> rows_;            // (refused, dim + state)
};

}  // namespace inlay::inline INLAY_ABI
