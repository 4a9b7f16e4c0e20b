#pragma once

#include <inlay/batch/batch_view.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/core/views.hpp>
#include <inlay/engine/timers.hpp>

#include <cstddef>
#include <iterator>
#include <memory>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// The rows of a step that the network sees at a time. A handle: copy it freely while its step
/// lives.
template <class Engine>
class chunk {
 public:
  /// Made by a step.
  chunk(Engine& owner, typename Engine::work_type& work, std::size_t number)
      : owner_(&owner), work_(&work), number_(number) {}

  /// Its place among the step's chunks.
  [[nodiscard]] std::size_t number() const noexcept { return number_; }
  /// Samples, padding included.
  [[nodiscard]] std::size_t rows() const noexcept { return range().size(); }

  /// Pooled embeddings, field after field. // (rows, sum of the fields' dims)
  [[nodiscard]] matrix_view<float const> pooled() const noexcept {
    return {work_->pooled.data() + range().first * work_->stride, rows(), work_->stride};
  }
  /// Dense features. // (rows, dense features)
  [[nodiscard]] matrix_view<float const> dense() const noexcept {
    return {work_->dense.data() + range().first * work_->dense_width, rows(), work_->dense_width};
  }
  /// Labels, and weights where the last chunk is padded. // (rows)
  [[nodiscard]] labels_view labels() const noexcept {
    auto const [first, last] = range();
    span<float const> const weights{work_->weights.data(), work_->weights.size()};
    return {{work_->labels.data() + first, last - first},
            weights.empty() ? weights : weights.subspan(first, last - first)};
  }

  /// Memory of the step where a network may write the gradient, all of it and zeros for padding
  /// rows, and then hand it to `backward`, which need not copy it. Its values are unspecified
  /// before. // as pooled()
  [[nodiscard]] matrix_view<float> pooled_gradient() const noexcept {
    return {work_->pooled_gradient.data() + range().first * work_->stride, rows(), work_->stride};
  }

  /// Takes the gradient of the loss, summed over rows, by the pooled embeddings; and that of the
  /// attached parameters from where they were attached. Throws if one is not finite; nothing of the
  /// step has been applied then. // pooled_gradient as pooled()
  void backward(matrix_view<float const> pooled_gradient) const {
    owner_->keep(*work_, number_, pooled_gradient, owner_->attached_gradients());
  }

  /// The same with the attached parameters' gradients in a workspace, for chunks side by side.
  void backward(matrix_view<float const> pooled_gradient,
                span<matrix_view<float const> const> parameter_gradients) const {
    owner_->keep(*work_, number_, pooled_gradient, parameter_gradients);
  }

 private:
  [[nodiscard]] sample_range range() const noexcept { return work_->rows_of(number_); }

  Engine* owner_;
  typename Engine::work_type* work_;
  std::size_t number_;
};

/// A batch whose rows are here, pooled, and pinned. Give every chunk's gradients back, then hand
/// the step to `engine::finish`. A step that is dropped instead changes nothing, and is counted.
/// It is of use only while its engine lives.
template <class Engine>
class step {
 public:
  /// Made by an engine.
  step(Engine& owner, std::weak_ptr<void> alive, std::unique_ptr<typename Engine::work_type> work)
      : owner_(&owner), alive_(std::move(alive)), work_(std::move(work)) {}
  /// Only the step that has been moved to can be finished.
  step(step&&) noexcept = default;
  step& operator=(step&&) = delete;
  ~step() {
    if (work_ && !alive_.expired()) owner_->drop(std::move(work_));
  }

  [[nodiscard]] std::size_t rows() const noexcept { return work_ ? work_->rows : 0; }  ///< samples

  /// The chunks of a step, for a loop over them.
  class chunk_range {
   public:
    /// Goes forward; a chunk is made when it is looked at.
    class iterator {
     public:
      using difference_type = std::ptrdiff_t;
      using value_type = chunk<Engine>;

      iterator() = default;
      /// At a chunk's number.
      iterator(step const* of, std::size_t at) : step_(of), at_(at) {}
      [[nodiscard]] value_type operator*() const { return step_->at(at_); }
      iterator& operator++() {
        ++at_;
        return *this;
      }
      iterator operator++(int) { return std::exchange(*this, iterator(step_, at_ + 1)); }
      [[nodiscard]] bool operator==(iterator const&) const = default;

     private:
      step const* step_ = nullptr;
      std::size_t at_ = 0;
    };

    /// All of a step.
    explicit chunk_range(step const& of) : step_(&of) {}
    /// How many chunks there are.
    [[nodiscard]] std::size_t size() const noexcept { return step_->work_->chunks; }
    [[nodiscard]] iterator begin() const noexcept { return {step_, 0}; }
    [[nodiscard]] iterator end() const noexcept { return {step_, size()}; }

   private:
    step const* step_;
  };

  /// The chunks, in order. None where the batch has no rows.
  [[nodiscard]] chunk_range chunks() const {
    expects(work_ != nullptr, "this step is finished: it has no chunks any more");
    return chunk_range(*this);
  }

  /// Calls body(chunk, worker) for all chunks, side by side; `worker` numbers the threads from 0.
  /// Whatever a chunk writes to must be the worker's own: the loss, the network's workspace, and
  /// the gradients of attached parameters, which `backward` then takes as its second argument.
  template <class Body>
  void each_chunk(Body const& body) const {
    expects(work_ != nullptr, "this step is finished: it has no chunks any more");
    owner_->exec().for_each_worker(work_->chunks, [&](std::size_t number, std::size_t worker) {
      detail::chunk_timer const timer(owner_->at_.recorded, owner_->at_.step, worker);
      body(at(number), worker);
    });
  }

 private:
  friend Engine;

  [[nodiscard]] chunk<Engine> at(std::size_t number) const { return {*owner_, *work_, number}; }

  Engine* owner_;
  std::weak_ptr<void> alive_;  // expired: the engine is gone
  std::unique_ptr<typename Engine::work_type> work_;
};

}  // namespace inlay::inline INLAY_ABI
