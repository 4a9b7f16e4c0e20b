#pragma once

#include <inlay/table/admission.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace inlay::inline INLAY_ABI {

/// A key gets a row if the user's functor says so: bool(key, count), asked as `admission` says.
/// Each state calls a copy of its own, which may remember what it was asked; its answers must be
/// those of its askings alone. What memory it takes is not known here and reported as none.
template <class Functor>
struct admit_if {
  static constexpr char const* name = "admit_if";

  Functor functor{};  ///< bool(key, count)

  void check() const noexcept {}

  /// A copy of the functor.
  template <class Key>
    requires std::predicate<Functor&, Key, std::uint32_t>
  class state {
   public:
    /// Copies the functor.
    explicit state(admit_if const& part) : functor_(part.functor) {}

    [[nodiscard]] bool admit(Key key, std::uint32_t count, step_id) {
      return std::invoke(functor_, key, count);
    }
    [[nodiscard]] std::size_t bytes() const noexcept { return 0; }
    [[nodiscard]] std::uint64_t dropped() const noexcept { return 0; }

   private:
    Functor functor_;
  };
};

static_assert(admission<admit_if<bool (*)(narrow::key, std::uint32_t)>>);

}  // namespace inlay::inline INLAY_ABI
