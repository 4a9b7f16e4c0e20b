#pragma once

#include <inlay/bag/backward.hpp>
#include <inlay/bag/bag_list.hpp>
#include <inlay/bag/forward.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/one_of.hpp>
#include <inlay/core/random.hpp>
#include <inlay/core/row_math.hpp>
#include <inlay/core/sums.hpp>
#include <inlay/testing/random_batch.hpp>
#include <inlay/vsid/hash_mapper.hpp>
#include <inlay/vsid/keys.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI::testing {

namespace detail {

[[noreturn]] inline void pooling_breaks(std::string const& law, std::uint64_t seed) {
  fail("pooling must " + law + " (seed " + std::to_string(seed) + ")");
}

[[nodiscard]] inline std::vector<float> normal_floats(std::size_t count, std::uint64_t seed) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = random_stream{mix(seed)}.normal(i);
  }
  return values;
}

[[nodiscard]] inline bool same_floats(std::vector<float> const& left,
                                      std::vector<float> const& right) {
  return left.size() == right.size() &&
         (left.empty() || std::memcmp(left.data(), right.data(), left.size() * sizeof(float)) == 0);
}

/// Bags of a random batch, pooled and differentiated by the library.
template <class Pooling>
struct pooled_case {
  static constexpr std::size_t dim = 5;
  static constexpr std::size_t gap = 2;  // columns that belong to nobody here
  static constexpr float untouched = 42.5F;

  /// One field for each pooling; fields 0, 2, 4 .. share a table, and so do the others.
  pooled_case(std::vector<Pooling> const& poolings, batch const& from, std::size_t rows_a_chunk,
              std::size_t threads, std::uint64_t seed)
      : view(from.view()), exec(threads), stride(poolings.size() * (dim + gap)) {
    for (std::size_t f = 0; f < poolings.size(); ++f) {
      fields.push_back({f, static_cast<table_id>(f % 2), f * (dim + gap) + 1, poolings[f]});
    }
    collect_bags<narrow, Pooling>(exec, view, {fields.data(), fields.size()}, rows_a_chunk, stride,
                                  bags, keys);
    hash_mapper::workspace<narrow::key> work;
    hash_mapper{}.map(exec, std::as_const(keys).view(), work, plan);
    rows = normal_floats(plan.size() * dim, seed + 1);
    pooled.assign(view.rows * stride, untouched);
    std::vector<float const*> places;
    places.reserve(plan.size());
    for (std::size_t v = 0; v < plan.size(); ++v) {
      places.push_back(rows.data() + v * dim);
    }
    pool_bags(exec,
              {bags, std::as_const(plan.virtual_ids).view(), {places.data(), places.size()}, dim},
              pooled.data());
    pooled_gradient = normal_floats(view.rows * stride, seed + 2);
    tree_sum sums(dim);
    buffer<std::uint32_t> gradient_places(bags.places.size());
    row_gradients<narrow::key> gradient_of(bags, plan, pooled_gradient.data(), dim,
                                           gradient_places.view(), sums);
    gradient_of.open(0, plan.size());
    gradients.resize(plan.size() * dim);
    for (std::size_t v = 0; v < plan.size(); ++v) {
      gradient_of(v, gradients.data() + v * dim);
    }
  }

  /// Calls visit(field, row, first id, behind last id, factor): every bag, row by row.
  template <class Visit>
  void for_each_bag(Visit&& each) const {
    for (std::size_t row = 0; row < view.rows; ++row) {
      for (std::size_t f = 0; f < fields.size(); ++f) {
        auto const first = view.offsets[view.bag(f, row)];
        auto const last = view.offsets[view.bag(f, row) + 1];
        auto weight_sum = 0.0F;
        for (auto i = first; i < last; ++i) {
          weight_sum += weight(i);
        }
        auto const factor = inlay::visit(fields[f].pooling, [&](auto const& rule) {
          return rule.factor(last - first, weight_sum);
        });
        each(f, row, first, last, factor);
      }
    }
  }

  [[nodiscard]] float weight(std::size_t i) const {
    return view.weights.empty() ? 1.0F : view.weights[i];
  }
  [[nodiscard]] std::size_t number_of(std::size_t field, std::size_t i) const {
    return numbers().at(narrow::pack(fields[field].table, view.ids[i]));
  }
  [[nodiscard]] std::map<narrow::key, std::size_t> const& numbers() const {
    if (numbers_.empty()) {
      for (std::size_t v = 0; v < plan.size(); ++v) {
        numbers_[plan.unique[v]] = v;
      }
    }
    return numbers_;
  }

  batch_view view;
  host_exec exec;
  std::size_t stride;
  std::vector<bag_field<Pooling>> fields;
  bag_list bags;
  buffer<narrow::key> keys;
  id_plan<narrow::key> plan;
  std::vector<float> rows;  // (U, dim)
  std::vector<float> pooled;
  std::vector<float> pooled_gradient;
  std::vector<float> gradients;  // (U, dim)

 private:
  mutable std::map<narrow::key, std::size_t> numbers_;
};

/// A sum and what its rounding is measured by.
struct measured {
  double sum = 0.0;
  double magnitude = 0.0;
  double terms = 1.0;

  void add(double term) {
    sum += term;
    magnitude += std::abs(term);
    ++terms;
  }
  /// Whether `value` is this sum, computed in float: each term was rounded, and each addition.
  [[nodiscard]] bool is(float value) const {
    return std::abs(double{value} - sum) <= 2.0 * terms * 0x1p-23 * magnitude;
  }
};

template <class Pooling>
void check_forward(pooled_case<Pooling> const& tried, std::uint64_t seed) {
  auto const dim = tried.dim;
  std::vector<bool> written(tried.pooled.size());
  tried.for_each_bag(
      [&](std::size_t f, std::size_t row, std::size_t first, std::size_t last, float factor) {
        for (std::size_t column = 0; column < dim; ++column) {
          measured expected;
          for (auto i = first; i < last; ++i) {
            auto const v = tried.number_of(f, i);
            expected.add(double{factor} * tried.weight(i) * tried.rows[v * dim + column]);
          }
          auto const place = row * tried.stride + tried.fields[f].column + column;
          written[place] = true;
          if (!expected.is(tried.pooled[place])) {
            pooling_breaks("give the weighted sum of a bag's rows times its factor", seed);
          }
        }
      });
  for (std::size_t place = 0; place < written.size(); ++place) {
    if (!written[place] && tried.pooled[place] != tried.untouched) {
      pooling_breaks("write the columns of its own fields only", seed);
    }
  }
}

template <class Pooling>
void check_backward(pooled_case<Pooling> const& tried, std::uint64_t seed) {
  auto const dim = tried.dim;
  std::vector<measured> expected(tried.gradients.size());
  tried.for_each_bag(
      [&](std::size_t f, std::size_t row, std::size_t first, std::size_t last, float factor) {
        auto const* const from =
            tried.pooled_gradient.data() + row * tried.stride + tried.fields[f].column;
        for (auto i = first; i < last; ++i) {
          for (std::size_t column = 0; column < dim; ++column) {
            expected[tried.number_of(f, i) * dim + column].add(double{factor} * tried.weight(i) *
                                                               from[column]);
          }
        }
      });
  for (std::size_t at = 0; at < expected.size(); ++at) {
    if (!expected[at].is(tried.gradients[at])) {
      pooling_breaks("add up a row's gradient over all bags that hold it", seed);
    }
  }
}

template <class Pooling>
void check_adjoint(pooled_case<Pooling> const& tried, std::uint64_t seed) {
  measured forward;
  measured backward;
  for (std::size_t row = 0; row < tried.view.rows; ++row) {
    for (auto const& field : tried.fields) {
      for (std::size_t column = 0; column < tried.dim; ++column) {
        auto const place = row * tried.stride + field.column + column;
        forward.add(double{tried.pooled[place]} * tried.pooled_gradient[place]);
      }
    }
  }
  for (std::size_t at = 0; at < tried.rows.size(); ++at) {
    backward.add(double{tried.rows[at]} * tried.gradients[at]);
  }
  auto const slack = 0x1p-23 * (forward.magnitude + backward.magnitude) *
                     (8.0 + std::log2(forward.terms + backward.terms));
  if (std::abs(forward.sum - backward.sum) > slack) {
    pooling_breaks("have a backward that is the adjoint of its forward: <f(x), g> is " +
                       std::to_string(forward.sum) + " and <x, b(g)> " +
                       std::to_string(backward.sum),
                   seed);
  }
}

/// The sum of the nodes below node `at` of level `level`, as section 7 of the design writes it.
inline std::optional<std::vector<float>> tree_node(
    std::vector<std::optional<std::vector<float>>> const& chunks, std::size_t level,
    std::size_t at) {
  if (level == 0) return at < chunks.size() ? chunks[at] : std::nullopt;
  auto left = tree_node(chunks, level - 1, 2 * at);
  auto right = tree_node(chunks, level - 1, 2 * at + 1);
  if (!left) return right;
  if (right) add(left->data(), right->data(), left->size());
  return left;
}

template <class Pooling>
void check_tree(pooled_case<Pooling> const& tried, std::uint64_t seed) {
  auto const dim = tried.dim;
  auto const chunk_rows = fixed_sums::chunk_rows;
  auto const count = (tried.view.rows + chunk_rows - 1) / chunk_rows;
  std::vector<std::vector<std::optional<std::vector<float>>>> sums(
      tried.plan.size(), std::vector<std::optional<std::vector<float>>>(count));
  tried.for_each_bag(
      [&](std::size_t f, std::size_t row, std::size_t first, std::size_t last, float factor) {
        auto const* const from =
            tried.pooled_gradient.data() + row * tried.stride + tried.fields[f].column;
        for (auto i = first; i < last; ++i) {
          auto& sum = sums[tried.number_of(f, i)][row / chunk_rows];
          if (!sum) sum.emplace(dim, 0.0F);
          add(sum->data(), from,
              tried.view.weights.empty() ? factor : factor * tried.view.weights[i], dim);
        }
      });
  std::vector<float> expected;
  for (auto const& chunks : sums) {
    auto const total = tree_node(chunks, 12, 0);
    expected.insert(expected.end(), total->begin(), total->end());
  }
  if (!same_floats(expected, tried.gradients)) {
    pooling_breaks("add chunks of 128 rows along the binary tree over their numbers", seed);
  }
}

template <class Pooling>
void check_threads(std::vector<Pooling> const& poolings, batch const& from,
                   pooled_case<Pooling> const& one, std::uint64_t seed) {
  for (std::size_t threads = 2; threads <= 3; ++threads) {
    pooled_case<Pooling> const many(poolings, from, fixed_sums::chunk_rows, threads, seed);
    if (!same_floats(one.pooled, many.pooled) || !same_floats(one.gradients, many.gradients)) {
      pooling_breaks("give the same bits with " + std::to_string(threads) + " threads as with one",
                     seed);
    }
  }
}

}  // namespace detail

/// Checks the laws of pooling over random multi-hot batches, with and without weights; field f
/// pools by `poolings[f]`. Throws `error` with the law that does not hold.
template <class Pooling>
void check_pooled_fields(std::vector<Pooling> const& poolings, std::uint64_t seed = 1) {
  for (auto const weights : {bag_weights::none, bag_weights::random}) {
    for (std::size_t const rows : {0U, 1U, 7U, 128U, 129U, 700U}) {
      auto const from = random_batch(
          {.rows = rows, .fields = poolings.size(), .distinct = 60, .weights = weights}, seed);
      detail::pooled_case<Pooling> const fast(poolings, from, fast_sums::rows_a_chunk(rows), 1,
                                              seed);
      detail::check_forward(fast, seed);
      detail::check_backward(fast, seed);
      detail::check_adjoint(fast, seed);
      detail::pooled_case<Pooling> const fixed(poolings, from, fixed_sums::chunk_rows, 1, seed);
      detail::check_forward(fixed, seed);
      detail::check_backward(fixed, seed);
      detail::check_tree(fixed, seed);
      detail::check_threads(poolings, from, fixed, seed);
    }
  }
}

/// Checks all laws of one pooling, over three fields of which two read the same table.
template <pooling Pooling>
void check_pooling(Pooling const& pooling, std::uint64_t seed = 1) {
  for (auto const weight_sum : {0.0F, 0.5F, 3.0F, -2.0F}) {
    auto const factor = pooling.factor(3, weight_sum);
    if (!std::isfinite(factor)) detail::pooling_breaks("give a finite factor", seed);
    if (factor != pooling.factor(3, weight_sum)) {
      detail::pooling_breaks("give the same factor each time", seed);
    }
  }
  check_pooled_fields(std::vector<Pooling>(3, pooling), seed);
}

}  // namespace inlay::inline INLAY_ABI::testing
