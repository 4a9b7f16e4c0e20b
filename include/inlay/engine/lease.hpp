#pragma once

#include <inlay/core/config.hpp>

#include <cstddef>
#include <memory>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// Rows that are being brought for a step to come, and stay until it is over. Hand it to
/// `engine::begin`. A lease that is dropped instead lets its rows go, and is counted; one that
/// outlives its engine is of no use any more.
template <class Engine>
class lease {
 public:
  /// Made by an engine.
  lease(Engine& owner, std::weak_ptr<void> alive, std::unique_ptr<typename Engine::work_type> work)
      : owner_(&owner), alive_(std::move(alive)), work_(std::move(work)) {}
  /// Only the lease that has been moved to can begin.
  lease(lease&&) noexcept = default;
  /// Drops what it held.
  lease& operator=(lease&& other) noexcept {
    if (this != &other) {
      lease const dropped(std::move(*this));
      owner_ = other.owner_;
      alive_ = std::move(other.alive_);
      work_ = std::move(other.work_);
    }
    return *this;
  }
  ~lease() {
    if (work_ && !alive_.expired()) owner_->drop_lease(std::move(work_));
  }

  /// Samples; 0 when the lease has been moved from or begun.
  [[nodiscard]] std::size_t rows() const noexcept { return work_ ? work_->rows : 0; }

 private:
  friend Engine;

  Engine* owner_;
  std::weak_ptr<void> alive_;  // expired: the engine is gone
  std::unique_ptr<typename Engine::work_type> work_;
};

}  // namespace inlay::inline INLAY_ABI
