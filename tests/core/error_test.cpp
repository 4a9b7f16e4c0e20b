#include <inlay/core/error.hpp>

#include <doctest/doctest.h>

#include <string>

TEST_CASE("error: says the sentence, then the file and line of whoever found the fault") {
  int const line = __LINE__ + 2;
  try {
    inlay::expects(false, "bound must be positive");
    FAIL("no error came");
  } catch (inlay::error const& thrown) {
    CHECK(thrown.sentence() == "bound must be positive");
    CHECK(std::string(thrown.what()) ==
          "bound must be positive [" + std::string(__FILE__) + ":" + std::to_string(line) + "]");
  }
}

TEST_CASE("error: fail throws always, expects only when the caller has not kept his part") {
  CHECK_THROWS_AS(inlay::fail("no such table"), inlay::error);
  CHECK_NOTHROW(inlay::expects(true, "nothing is wrong"));
  CHECK_THROWS_AS(inlay::expects(false, ""), std::runtime_error);
}
