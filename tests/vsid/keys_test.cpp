#include <inlay/vsid/keys.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <initializer_list>

using inlay::narrow;
using inlay::table_id;

TEST_CASE("narrow: every table and every id of 48 bits comes back as it was") {
  constexpr auto largest_id = (std::uint64_t{1} << 48U) - 1;
  for (unsigned table : {0U, 1U, 255U, 256U, 65'534U, 65'535U}) {
    for (std::uint64_t id : {std::uint64_t{0}, std::uint64_t{1}, std::uint64_t{0xffffffff},
                             largest_id - 1, largest_id}) {
      CAPTURE(table);
      CAPTURE(id);
      auto const packed = narrow::pack(static_cast<table_id>(table), id);
      CHECK(narrow::holds(static_cast<table_id>(table), id));
      CHECK(inlay::index(narrow::table(packed)) == table);
      CHECK(narrow::id(packed) == id);
    }
  }
}

TEST_CASE("narrow: ids of more than 48 bits don't fit") {
  for (unsigned bit = 48; bit < 64; ++bit) {
    CHECK_FALSE(narrow::holds(table_id{0}, std::uint64_t{1} << bit));
  }
}

TEST_CASE("narrow: one id in two tables is two keys, with hashes that differ") {
  auto const first = narrow::pack(table_id{1}, 5);
  auto const second = narrow::pack(table_id{2}, 5);
  CHECK(first != second);
  CHECK(hash(first) != hash(second));
  CHECK(first < second);
}
