#include <inlay/aggregate/bulk.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <limits>

namespace {

TEST_CASE("bulk: every sample is granted once, in order, and the last batch is cut short") {
  for (std::uint64_t const end : {0U, 1U, 99U, 100U, 101U, 1000U}) {
    CAPTURE(end);
    std::uint64_t cursor = 0;
    std::size_t grants = 0;
    for (;;) {
      auto const range = inlay::bulk{}.grant(cursor, end, 100);
      REQUIRE(range.first == cursor);
      if (range.empty()) break;
      REQUIRE(range.last <= end);
      CHECK(range.size() == (end - cursor < 100 ? end - cursor : 100));
      cursor = range.last;
      ++grants;
    }
    CHECK(cursor == end);
    CHECK(grants == (end + 99) / 100);
  }
}

TEST_CASE("bulk: a stream that ends before the cursor has nothing to grant") {
  auto const range = inlay::bulk{}.grant(100, 60, 10);
  CHECK(range.empty());
  CHECK(range.size() == 0);
}

TEST_CASE("bulk: a batch larger than all numbers takes the rest") {
  auto const range = inlay::bulk{}.grant(5, 60, std::numeric_limits<std::size_t>::max());
  CHECK(range.first == 5);
  CHECK(range.last == 60);
}

}  // namespace
