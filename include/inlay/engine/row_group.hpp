#pragma once

#include <inlay/bag/backward.hpp>
#include <inlay/bag/bag_list.hpp>
#include <inlay/bag/forward.hpp>
#include <inlay/cache/row_streams.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/row_math.hpp>
#include <inlay/core/views.hpp>
#include <inlay/engine/group_work.hpp>
#include <inlay/engine/report.hpp>
#include <inlay/engine/shape.hpp>
#include <inlay/optim/update_rows.hpp>
#include <inlay/table/admission.hpp>
#include <inlay/table/new_row.hpp>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// The tables of one width: their rows, the fields that read them, and what a step does with both.
template <class Parts>
class row_group {
 public:
  /// How (table, id) is packed.
  using keys_type = typename Parts::keys_type;
  using key = typename keys_type::key;
  /// How a bag's rows become one.
  using pooling_type = typename Parts::pooling_type;
  /// What a step keeps for it.
  using work_type = group_work<Parts>;
  /// Who gets a row.
  using admit_type = typename Parts::admit_type;
  /// Where its rows live.
  using store_type =
      typename Parts::table_type::template store<keys_type, typename Parts::init_type>;
  /// How they get to a step.
  using rows_type =
      typename Parts::organisation_type::template rows<typename Parts::cache_type, store_type>;

  /// `fields`: those whose tables have this width, with their columns in a pooled row of `stride`.
  row_group(Parts const& parts, shape const& shape, std::size_t dim, std::size_t stride,
            std::vector<bag_field<pooling_type>> fields)
      : dim_(dim),
        stride_(stride),
        fields_(std::move(fields)),
        rows_(parts.organisation.open(parts.cache, shape.cache_rows,
                                      parts.table.open(maker(parts, shape, dim)))),
        admission_(parts.admit) {
    for (auto const& table : shape.tables) {
      names_.push_back(table.name);
      rate_factors_.push_back(table.learning_rate_factor);
    }
  }

  /// Width of its rows.
  [[nodiscard]] std::size_t dim() const noexcept { return dim_; }
  /// The rows behind the fields.
  [[nodiscard]] rows_type& rows() noexcept { return rows_; }
  /// The rows behind the fields.
  [[nodiscard]] rows_type const& rows() const noexcept { return rows_; }

  /// Lists and de-duplicates the ids of a batch.
  void map(Parts const& parts, batch_view const& batch, std::size_t rows_a_chunk,
           work_type& work) const {
    collect_bags<keys_type, pooling_type>(parts.exec, batch, {fields_.data(), fields_.size()},
                                          rows_a_chunk, stride_, work.bags, work.keys);
    parts.mapper.map(parts.exec, std::as_const(work.keys).view(), work.mapping, work.plan);
  }

  /// Sends the step's rows to where they are used and pins them there.
  template <class Stream>
  row_traffic bring(host_exec const& exec, row_streams<Stream>& via, step_id step,
                    work_type& work) {
    if constexpr (admits_all<admit_type>) {
      return rows_.bring(exec, via, work.brought(), work.counts(), step, work.refs);
    } else {
      auto& admitted = work.admitted;
      admitted.ask(rows_.store(), admission_, work.brought(), work.counts(), step);
      auto traffic = rows_.bring(exec, via, admitted.keys(), admitted.counts(), step, work.refs);
      admitted.spread(work.refs, rows_.store().layout());
      traffic.unique += admitted.refused();
      traffic.refused = admitted.refused();
      return traffic;
    }
  }

  /// What decides who gets a row.
  [[nodiscard]] auto const& admission() const noexcept { return admission_; }

  /// Brings rows and keeps them in the cache for good, if there is one. Keys may come twice.
  row_traffic keep(Parts const& parts, span<key const> keys, step_id step) {
    if constexpr (requires { rows_.keep(parts.exec, keys, step); }) {
      typename Parts::mapper_type::template workspace<key> mapping;
      id_plan<key> distinct;
      parts.mapper.map(parts.exec, keys, mapping, distinct);
      return rows_.keep(parts.exec, distinct.unique.view(), step);
    }
    return {};
  }

  /// Rows to the pooled bags of some samples of the batch. // pooled (rows, stride)
  void pool(work_type const& work, std::size_t first, std::size_t last, float* pooled) const {
    pooled_bags{work.bags, work.plan.virtual_ids.view(), work.used(), dim_}.pool(
        first * fields_.size(), last * fields_.size(), pooled);
  }

  /// Takes the memory that an update needs, so that it can't run out in the middle.
  void prepare_update(host_exec const& exec, work_type& work) const {
    while (work.memory.size() < exec.threads()) {
      work.memory.emplace_back(dim_);
    }
    work.gradient_places.resize(work.keys.size());
    for (auto& memory : work.memory) {
      memory.sums.reserve(work.bags.chunk_ends.size());
    }
  }

  /// Throws, and names the row, if the sum of a row's gradients is not finite; `greatest` is the
  /// greatest pooled gradient by magnitude. As a rule that alone says that no sum can overflow, and
  /// none is formed.
  void require_finite_sums(host_exec const& exec, work_type& work, float const* pooled_gradient,
                           float greatest) const {
    // With room for the rounding of each addition.
    if (4.0 * greatest * work.bags.greatest_factor * static_cast<double>(work.keys.size()) <
        std::numeric_limits<float>::max()) {
      return;
    }
    require_finite(exec, work, [&](auto& memory) {
      return row_gradients<key>(work.bags, work.plan, pooled_gradient, dim_,
                                work.gradient_places.view(), memory.sums);
    });
  }

  /// Throws, and names the row, if a gradient that `gradients_of(memory of a thread)` gives is not
  /// finite.
  template <class GradientsOf>
  void require_finite(host_exec const& exec, work_type& work,
                      GradientsOf const& gradients_of) const {
    auto const keys = work.brought();
    std::atomic<std::size_t> broken{keys.size()};
    exec.for_pieces_worker(keys.size(), 512,
                           [&](std::size_t first, std::size_t last, std::size_t worker) {
                             auto& memory = work.memory[worker];
                             auto gradient_of = gradients_of(memory);
                             gradient_of.open(first, last);
                             for (auto v = first; v < last; ++v) {
                               gradient_of(v, memory.gradients.data());
                               if (!all_finite(memory.gradients.data(), dim_))
                                 note_lowest(broken, v);
                             }
                           });
    if (broken < keys.size()) {
      fail("the summed gradient of " + describe(keys[broken]) + " is not finite");
    }
  }

  /// Sums every row's gradient, multiplies it by `factor`, and moves the row: one pass over the
  /// step's rows, each by one thread; after `prepare_update`. `context` is that of a table whose
  /// rate factor is one.
  template <class Rule>
  void update(host_exec const& exec, Rule const& rule, work_type& work,
              float const* pooled_gradient, float factor, update_context const& context) const {
    auto const state = rule.state_floats(dim_);
    auto const keys = work.brought();
    auto const piece = [&](std::size_t first, std::size_t last, std::size_t worker) {
      auto& memory = work.memory[worker];
      auto gradient_of = gradients_of(work, pooled_gradient, memory);
      gradient_of.open(first, last);
      for (auto v = first; v < last;) {
        row_block block(dim_, state);
        for (; v < last && block.size < row_block::most; ++v) {
          auto* const gradient = memory.gradients.data() + block.size * dim_;
          auto const table = index(keys_type::table(keys[v]));
          block.add(work.refs.weights[v], work.refs.state[v], gradient,
                    context.rate_factor * rate_factors_[table]);
          gradient_of(v, gradient);
          scale(gradient, factor, dim_);
        }
        update_rows(rule, block, context.step);
      }
    };
    exec.for_pieces_worker(keys.size(), 512, piece);
  }

  /// Pools a batch for evaluation: unknown ids read their first row, nothing is created or moved.
  void look_up(Parts const& parts, batch_view const& batch, work_type& work, float* pooled) const {
    map(parts, batch, fast_sums::rows_a_chunk(batch.rows), work);
    peek(work.plan.unique.view(), work.peeked);
    pool_bags(parts.exec, {work.bags, work.plan.virtual_ids.view(), work.peeked.rows.view(), dim_},
              pooled);
  }

  /// Rows as they are now; those that nobody has touched as they would begin.
  void peek(span<key const> keys, peeked_rows& into) const {
    auto const count = keys.size();
    into.rows.resize(count);
    rows_.peek(keys, into.rows.view());
    auto const unknown =
        static_cast<std::size_t>(std::count(into.rows.begin(), into.rows.end(), nullptr));
    into.first_rows.resize(unknown * dim_);
    auto* row = into.first_rows.data();
    for (std::size_t v = 0; v < count; ++v) {
      if (into.rows[v] != nullptr) continue;
      rows_.store().maker().weights(keys[v], {row, dim_});
      into.rows[v] = row;
      row += dim_;
    }
  }

  /// "id 7 of table C3", for the bag that lies at this place in the pooled matrix; empty if none
  /// does.
  [[nodiscard]] std::string describe_bag(work_type const& work, std::size_t place) const {
    for (std::size_t bag = 0; bag < work.bags.size(); ++bag) {
      auto const begin = std::size_t{work.bags.bag_places[bag]};
      if (begin <= place && place < begin + dim_ &&
          work.bags.offsets[bag] < work.bags.offsets[bag + 1]) {
        return describe(work.keys[work.bags.offsets[bag]]);
      }
    }
    return {};
  }

 private:
  [[nodiscard]] auto gradients_of(work_type& work, float const* pooled_gradient,
                                  gradient_memory& memory) const {
    if constexpr (moves_keys<Parts>) {
      return summed_gradients(work.between.sums().data(), dim_);
    } else {
      return row_gradients<key>(work.bags, work.plan, pooled_gradient, dim_,
                                work.gradient_places.view(), memory.sums);
    }
  }

  [[nodiscard]] static new_row<keys_type, typename Parts::init_type> maker(Parts const& parts,
                                                                           shape const& shape,
                                                                           std::size_t dim) {
    std::vector<float> scales;
    scales.reserve(shape.tables.size());
    for (auto const& table : shape.tables) {
      scales.push_back(table.initial_scale);
    }
    auto state = inlay::visit(parts.optimizer, [&](auto const& rule) {
      std::vector<float> first(rule.state_floats(dim));
      if (!first.empty()) rule.reset({first.data(), first.size()});
      return first;
    });
    return {parts.init, shape.seed, dim, std::move(scales), std::move(state)};
  }

  [[nodiscard]] std::string describe(key row) const {
    return "id " + std::to_string(keys_type::id(row)) + " of table " +
           names_[index(keys_type::table(row))];
  }

  static void note_lowest(std::atomic<std::size_t>& lowest, std::size_t value) noexcept {
    auto seen = lowest.load();
    while (value < seen && !lowest.compare_exchange_weak(seen, value)) {}
  }

  std::size_t dim_;
  std::size_t stride_;
  std::vector<bag_field<pooling_type>> fields_;
  std::vector<std::string> names_;   // by table
  std::vector<float> rate_factors_;  // by table
  rows_type rows_;
  typename admit_type::template state<key> admission_;
};

}  // namespace inlay::inline INLAY_ABI
