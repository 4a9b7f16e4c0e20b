#pragma once

#include <inlay/core/error.hpp>

#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>

namespace inlay::inline INLAY_ABI {

/// A part chosen at run time among types known at compile time.
///
/// Its owner visits it once per batch and runs the whole loop with the chosen type, so the choice
/// costs nothing per row, and a program with options compiles one engine instead of a product of
/// them.
template <class... Choices>
class one_of {
 public:
  constexpr one_of() = default;

  /// This choice, with its knobs.
  template <class Choice>
    requires(std::is_same_v<Choice, Choices> || ...)
  constexpr one_of(Choice choice) : chosen_(std::move(choice)) {}

  /// The choice, for a visit or for setting its knobs.
  [[nodiscard]] constexpr std::variant<Choices...> const& chosen() const noexcept {
    return chosen_;
  }
  /// The choice, for a visit or for setting its knobs.
  [[nodiscard]] constexpr std::variant<Choices...>& chosen() noexcept { return chosen_; }

  /// The choice whose `name` is `wanted`, with default knobs; an unknown name is an error that
  /// lists all.
  [[nodiscard]] static one_of named(std::string_view wanted) {
    static_assert(
        requires { ((void)std::string_view{Choices::name}, ...); },
        "each choice of a one_of needs a static name to be chosen by");
    one_of result;
    bool const found =
        ((Choices::name == wanted ? (result.chosen_ = Choices{}, true) : false) || ...);
    if (!found) {
      fail("there is no '" + std::string(wanted) + "' here; choose one of" + names());
    }
    return result;
  }

  /// " lru sieve": every name after a space.
  [[nodiscard]] static std::string names() {
    return ((" " + std::string(std::string_view{Choices::name})) + ...);
  }

 private:
  std::variant<Choices...> chosen_;
};

/// True for a `one_of`.
template <class T>
inline constexpr bool is_one_of = false;
/// True, for it is one.
template <class... Choices>
inline constexpr bool is_one_of<one_of<Choices...>> = true;

/// Calls `body(part)`, or `body(chosen)` where the part is a `one_of`.
template <class Part, class Body>
constexpr decltype(auto) visit(Part&& part, Body&& body) {
  if constexpr (is_one_of<std::remove_cvref_t<Part>>) {
    return std::visit(std::forward<Body>(body), std::forward<Part>(part).chosen());
  } else {
    return std::forward<Body>(body)(std::forward<Part>(part));
  }
}

}  // namespace inlay::inline INLAY_ABI
