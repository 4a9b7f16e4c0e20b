#include <inlay/vsid/wide.hpp>

#include <inlay/table/host_rows.hpp>
#include <inlay/testing/mapper_laws.hpp>
#include <inlay/testing/row_store_laws.hpp>
#include <inlay/vsid/hash_mapper.hpp>
#include <inlay/vsid/sort_mapper.hpp>

#include <doctest/doctest.h>

#include <cstdint>
#include <vector>

using inlay::raw_id;
using inlay::table_id;
using inlay::wide;

TEST_CASE("wide: every table and every id of 64 bits comes back as it was") {
  for (unsigned table : {0U, 1U, 65'535U}) {
    for (raw_id id : {raw_id{0}, raw_id{1}, (raw_id{1} << 48U) - 1, raw_id{1} << 48U, ~raw_id{0}}) {
      CAPTURE(table);
      CAPTURE(id);
      auto const packed = wide::pack(static_cast<table_id>(table), id);
      CHECK(wide::holds(static_cast<table_id>(table), id));
      CHECK(inlay::index(wide::table(packed)) == table);
      CHECK(wide::id(packed) == id);
    }
  }
}

TEST_CASE("wide: one id in two tables is two keys, ordered by table first") {
  auto const first = wide::pack(table_id{1}, ~raw_id{0});
  auto const second = wide::pack(table_id{2}, 0);
  CHECK(first != second);
  CHECK(hash(first) != hash(second));
  CHECK(first < second);
}

TEST_CASE("wide: mappers keep their laws") {
  inlay::testing::check_id_mapper<wide>(inlay::hash_mapper{}, 5);
  inlay::testing::check_id_mapper<wide>(inlay::sort_mapper{}, 6);
}

TEST_CASE("wide: a table keeps its laws") {
  auto const make = [] {
    return inlay::host_rows{
        inlay::new_row<wide, inlay::uniform>{{}, 3, 5, {0.1F, 0.2F, 0.3F}, {0.0F, 0.0F}}};
  };
  inlay::testing::check_row_store<wide>(make, 3, 7);
}
