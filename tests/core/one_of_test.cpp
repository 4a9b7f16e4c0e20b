#include <inlay/core/one_of.hpp>

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <type_traits>

namespace {

struct red {
  static constexpr char const* name = "red";
  int depth = 1;
};
struct blue {
  static constexpr char const* name = "blue";
  int depth = 2;
};
using colour = inlay::one_of<red, blue>;

}  // namespace

TEST_CASE("one_of: holds its first choice unless told otherwise, with the knobs given") {
  auto const depth = [](auto const& chosen) { return chosen.depth; };
  CHECK(inlay::visit(colour{}, depth) == 1);
  CHECK(inlay::visit(colour{blue{}}, depth) == 2);
  colour choice = red{.depth = 7};
  CHECK(inlay::visit(choice, depth) == 7);
  choice = blue{.depth = 8};
  CHECK(inlay::visit(choice, depth) == 8);
  inlay::visit(choice, [](auto& chosen) { chosen.depth = 9; });
  CHECK(inlay::visit(choice, depth) == 9);
}

TEST_CASE("one_of: a name chooses; one that is not there is an error that lists all") {
  for (std::string_view name : {"red", "blue"}) {
    CHECK(inlay::visit(colour::named(name),
                       [](auto const& chosen) { return std::string_view(chosen.name); }) == name);
  }
  CHECK(colour::names() == " red blue");
  for (std::string_view name : {"green", "", "Red", "re", "redd"}) {
    CHECK_THROWS_WITH_AS((void)colour::named(name), doctest::Contains("choose one of red blue"),
                         inlay::error);
  }
  CHECK_THROWS_WITH((void)colour::named("green"), doctest::Contains("'green'"));
}

TEST_CASE("one_of: visit hands a plain part to the body as it is") {
  CHECK(inlay::visit(blue{.depth = 5}, [](blue const& part) { return part.depth; }) == 5);
  CHECK(inlay::is_one_of<colour>);
  CHECK_FALSE(inlay::is_one_of<red>);
  CHECK_FALSE(std::is_convertible_v<int, colour>);
}
