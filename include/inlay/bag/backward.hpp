#pragma once

#include <inlay/bag/bag_list.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/sums.hpp>
#include <inlay/vsid/id_plan.hpp>

#include <algorithm>
#include <cstddef>

namespace inlay::inline INLAY_ABI {

/// Gradients of rows from the gradient of the pooled matrix: the transpose of `pool_bags`. One
/// thread sums a row, over its occurrences in their order, so nothing depends on threads and
/// nothing is atomic. An object is one thread's, as is the memory of its sums.
template <class Key>
class row_gradients {
 public:
  /// Of a batch's bags and plan; all of them must outlive it. `sums`: memory for rows of this
  /// width.
  // pooled_gradient (rows, stride)
  row_gradients(bag_list const& bags, id_plan<Key> const& plan, float const* pooled_gradient,
                std::size_t dim, tree_sum& sums)
      : bags_(bags), plan_(plan), pooled_gradient_(pooled_gradient), dim_(dim), sums_(sums) {}

  /// The gradient of unique row v, valid until the next call. // (dim)
  [[nodiscard]] INLAY_COMPILED_ONCE float* operator()(std::size_t v) {
    sums_.clear();
    std::size_t chunk = 0;
    float* into = nullptr;
    for (auto const i : plan_.occurrences_of(v)) {
      // Occurrences ascend, and so do the chunks they lie in.
      if (into == nullptr || i >= bags_.chunk_ends[chunk]) {
        chunk = chunk_of(i, chunk);
        into = sums_.open(static_cast<std::uint32_t>(chunk));
      }
      auto const* const from = pooled_gradient_ + bags_.places[i];
      if (bags_.factors.empty()) {
        add(into, from, dim_);
      } else {
        add(into, from, bags_.factors[i], dim_);
      }
    }
    return sums_.total();
  }

 private:
  [[nodiscard]] std::size_t chunk_of(std::uint32_t occurrence, std::size_t from) const noexcept {
    return static_cast<std::size_t>(
        std::upper_bound(bags_.chunk_ends.begin() + from, bags_.chunk_ends.end(), occurrence) -
        bags_.chunk_ends.begin());
  }

  bag_list const& bags_;
  id_plan<Key> const& plan_;
  float const* pooled_gradient_;
  std::size_t dim_;
  tree_sum& sums_;
};

}  // namespace inlay::inline INLAY_ABI
