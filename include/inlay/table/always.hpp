#pragma once

#include <inlay/table/admission.hpp>

#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Every key gets a row when it first occurs. Costs nothing, for nobody is asked.
struct always {
  static constexpr char const* name = "always";
  /// So that nobody need ask.
  static constexpr bool admits_all = true;

  void check() const noexcept {}

  template <class Key>
  class state {
   public:
    /// Of nothing.
    explicit state(always) noexcept {}

    [[nodiscard]] bool admit(Key, std::uint32_t, step_id) const noexcept { return true; }
    [[nodiscard]] std::size_t bytes() const noexcept { return 0; }
    [[nodiscard]] std::uint64_t dropped() const noexcept { return 0; }
  };
};

static_assert(admission<always> && admits_all<always>);

}  // namespace inlay::inline INLAY_ABI
