#pragma once

#include <inlay/bag/bag_list.hpp>
#include <inlay/core/prefetch.hpp>
#include <inlay/core/row_math.hpp>
#include <inlay/core/sums.hpp>
#include <inlay/core/views.hpp>
#include <inlay/vsid/id_plan.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Gradients of rows from the gradient of the pooled matrix: the transpose of `pool_bags`. One
/// thread sums a row, over its occurrences in their order, so nothing depends on threads and
/// nothing is atomic. An object is one thread's, as is the memory of its sums.
template <class Key>
class row_gradients {
 public:
  /// Of a batch's bags and plan; all of them must outlive it. `places`: memory for as many numbers
  /// as there are occurrences, which the threads that share the rows may share too; `sums`: memory
  /// for rows of this width.
  // pooled_gradient (rows, stride)
  row_gradients(bag_list const& bags, id_plan<Key> const& plan, float const* pooled_gradient,
                std::size_t dim, span<std::uint32_t> places, tree_sum& sums)
      : bags_(bags),
        plan_(plan),
        pooled_gradient_(pooled_gradient),
        dim_(dim),
        places_(places),
        sums_(sums) {}

  /// Says that unique rows first to last - 1 come next, in order.
  void open(std::size_t first, std::size_t last) noexcept {
    // Where the gradients of their occurrences lie: looked up beforehand, for an address that is
    // itself on its way from memory asks for nothing ahead.
    end_ = plan_.offsets[last];
    with_prefetch<32>(
        end_ - plan_.offsets[first],
        [&, begin = plan_.offsets[first]](std::size_t i) {
          prefetch_line(bags_.places.data() + plan_.occurrences[begin + i]);
        },
        [&, begin = plan_.offsets[first]](std::size_t i) {
          places_[begin + i] = bags_.places[plan_.occurrences[begin + i]];
        });
    for (auto i = std::size_t{plan_.offsets[first]};
         i < std::min(plan_.offsets[first] + ahead, end_); ++i) {
      prefetch_lines(gradient_of(i), dim_ * sizeof(float));
    }
  }

  /// Calls into(i) for each i of `nodes` where unique row v occurs, ascending, which says where its
  /// share of the gradient belongs. `nodes` are first chunks, among those of all ranks, of nodes of
  /// the tree that the batch's chunks are made of. // into (dim)
  template <class Into>
  void shares(std::size_t v, span<std::uint32_t const> nodes, Into&& into) {
    auto first = std::size_t{plan_.offsets[v]};
    auto const last = std::size_t{plan_.offsets[v + 1]};
    auto const* const begin = plan_.occurrences.data();
    for (std::size_t node = 0; node < nodes.size() && first < last; ++node) {
      auto const next =
          node + 1 < nodes.size() ? nodes[node + 1] - bags_.first_chunk : bags_.chunk_ends.size();
      auto const end = static_cast<std::size_t>(
          std::lower_bound(begin + first, begin + last, bags_.chunk_ends[next - 1]) - begin);
      if (end > first) sum_chunks(first, end, into(node));
      first = end;
    }
  }

  /// into = the gradient of unique row v. // (dim)
  void operator()(std::size_t v, float* into) {
    auto const first = std::size_t{plan_.offsets[v]};
    auto const last = std::size_t{plan_.offsets[v + 1]};
    for (auto i = first + ahead; i < std::min(last + ahead, end_); ++i) {
      prefetch_lines(gradient_of(i), dim_ * sizeof(float));
    }
    sum_chunks(first, last, into);
  }

 private:
  static constexpr std::size_t ahead = 16;  // gradients on their way from memory

  [[nodiscard]] float const* gradient_of(std::size_t i) const noexcept {
    return pooled_gradient_ + places_[i];
  }

  /// into = the sum over a part of the list of occurrences: whether they are all of a row or one
  /// chunk of many, here or on another rank.
  INLAY_COMPILED_ONCE void sum(std::size_t first, std::size_t last, float* into) const noexcept {
    auto const row_of = [&](std::size_t i) { return gradient_of(first + i); };
    if (bags_.factors.empty()) {
      sum_rows(into, dim_, last - first, row_of);
    } else {
      sum_rows(into, dim_, last - first, row_of,
               [&](std::size_t i) { return bags_.factors[plan_.occurrences[first + i]]; });
    }
  }

  /// The same along the tree over the chunks of rows in which they lie.
  void sum_chunks(std::size_t first, std::size_t last, float* into) {
    // Occurrences ascend, and so do the chunks they lie in.
    auto chunk = chunk_of(plan_.occurrences[first], 0);
    if (plan_.occurrences[last - 1] < bags_.chunk_ends[chunk]) {
      sum(first, last, into);
      return;
    }
    sums_.clear();
    while (first < last) {
      chunk = chunk_of(plan_.occurrences[first], chunk);
      auto end = first + 1;
      while (end < last && plan_.occurrences[end] < bags_.chunk_ends[chunk]) {
        ++end;
      }
      sum(first, end, sums_.open(bags_.first_chunk + static_cast<std::uint32_t>(chunk)));
      first = end;
    }
    std::copy_n(sums_.total(), dim_, into);
  }

  [[nodiscard]] std::size_t chunk_of(std::uint32_t occurrence, std::size_t from) const noexcept {
    if (occurrence < bags_.chunk_ends[from]) return from;
    return static_cast<std::size_t>(
        std::upper_bound(bags_.chunk_ends.begin() + from, bags_.chunk_ends.end(), occurrence) -
        bags_.chunk_ends.begin());
  }

  bag_list const& bags_;
  id_plan<Key> const& plan_;
  float const* pooled_gradient_;
  std::size_t dim_;
  span<std::uint32_t> places_;
  tree_sum& sums_;
  std::size_t end_ = 0;  // of the occurrences whose places are known
};

}  // namespace inlay::inline INLAY_ABI
