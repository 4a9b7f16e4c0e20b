#include <inlay/table/host_rows.hpp>

#include "failing_new.hpp"

#include <inlay/core/error.hpp>
#include <inlay/table/host_table.hpp>
#include <inlay/table/normal.hpp>
#include <inlay/testing/row_store_laws.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

using inlay::host_exec;
using inlay::narrow;
using inlay::new_row;
using inlay::span;
using inlay::table_id;
using inlay::uniform;
using store = inlay::host_rows<narrow, uniform>;

namespace {

store open(std::size_t dim, std::size_t state, std::size_t slab_bytes, std::uint64_t seed = 9) {
  return store(
      new_row<narrow, uniform>({}, seed, dim, {0.5F, 0.01F, 1.0F}, std::vector<float>(state, 0.1F)),
      slab_bytes);
}

std::vector<narrow::key> keys_from(std::uint64_t first, std::size_t count) {
  std::vector<narrow::key> keys;
  for (std::uint64_t id = first; id < first + count; ++id) {
    keys.push_back(narrow::pack(table_id{1}, id));
  }
  return keys;
}

std::map<narrow::key, std::vector<float>> content(store const& rows) {
  std::map<narrow::key, std::vector<float>> all;
  rows.for_each(
      [&](narrow::key key, span<float const> row) { all[key] = {row.begin(), row.end()}; });
  return all;
}

}  // namespace

TEST_CASE("host_rows: keeps the laws of a row store, at any width and slab") {
  for (auto const slab_bytes :
       {std::size_t{0}, std::size_t{100}, std::size_t{4096}, std::size_t{1} << 20U}) {
    for (std::size_t dim : {1U, 3U, 16U}) {
      CAPTURE(slab_bytes);
      CAPTURE(dim);
      auto const make = [&] { return open(dim, dim / 2, slab_bytes); };
      inlay::testing::check_row_store(make, 3, 100 * dim + slab_bytes);
    }
  }
}

TEST_CASE("host_rows: what a row begins as differs between ids, tables and seeds") {
  host_exec const exec(1);
  std::set<std::vector<float>> seen;
  for (std::uint64_t seed = 0; seed < 4; ++seed) {
    auto rows = store(new_row<narrow, uniform>({}, seed, 4, {1.0F, 1.0F, 1.0F}, {}));
    std::vector<narrow::key> keys;
    for (std::uint16_t table = 0; table < 3; ++table) {
      for (std::uint64_t id = 0; id < 50; ++id) {
        keys.push_back(narrow::pack(table_id{table}, id));
      }
    }
    std::vector<float*> at(keys.size());
    (void)rows.find_or_create(exec, {keys.data(), keys.size()}, {at.data(), at.size()});
    for (auto const* row : at) {
      seen.emplace(row, row + 4);
    }
  }
  CHECK(seen.size() == 4 * 3 * 50);
}

TEST_CASE("host_rows: when memory runs out at any allocation, the table is as before") {
  for (std::size_t slab_bytes : {200U, 2000U}) {
    for (std::size_t erased : {0U, 7U}) {
      long n = 0;
      for (bool failed = true; failed; ++n) {
        CAPTURE(slab_bytes);
        CAPTURE(erased);
        CAPTURE(n);
        host_exec const exec(1);
        auto rows = open(3, 2, slab_bytes);
        auto const old_keys = keys_from(0, 100);
        std::vector<float*> old_at(old_keys.size());
        (void)rows.find_or_create(exec, {old_keys.data(), 100}, {old_at.data(), 100});
        for (std::size_t i = 0; i < erased; ++i) {
          rows.erase(old_keys[i * 3]);
        }
        auto const before = content(rows);
        auto const mixed = keys_from(50, 700);
        std::vector<float*> at(mixed.size());
        failed = failing_new::fails(
            n, [&] { (void)rows.find_or_create(exec, {mixed.data(), 700}, {at.data(), 700}); });
        if (failed) {
          CHECK(content(rows) == before);
          CHECK(rows.size() == before.size());
          (void)rows.find_or_create(exec, {mixed.data(), 700}, {at.data(), 700});
        }
        auto fresh = open(3, 2, slab_bytes);
        std::vector<float*> fresh_at(mixed.size());
        (void)fresh.find_or_create(exec, {mixed.data(), 700}, {fresh_at.data(), 700});
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < mixed.size(); ++i) {
          if (!std::equal(at[i], at[i] + 5, fresh_at[i])) ++wrong;
        }
        CHECK(wrong == 0);
        CHECK(std::set<float*>(at.begin(), at.end()).size() == at.size());
      }
      CHECK(n > 5);  // the index and several slabs
    }
  }
}

TEST_CASE("host_rows: erase keeps the row when there is no memory to note its place") {
  host_exec const exec(1);
  auto rows = open(3, 0, 100);
  auto const keys = keys_from(0, 40);
  std::vector<float*> at(keys.size());
  (void)rows.find_or_create(exec, {keys.data(), 40}, {at.data(), 40});
  auto const before = content(rows);
  CHECK(failing_new::fails(0, [&] { rows.erase(keys[5]); }));
  CHECK(content(rows) == before);
  CHECK(rows.erase(keys[5]));
  CHECK_FALSE(rows.erase(keys[5]));
}

TEST_CASE("host_rows: a key of a table that there is not is an error, and the table is as before") {
  host_exec const exec(2);
  auto rows = open(3, 1, 100);
  auto keys = keys_from(0, 2000);
  std::vector<float*> at(keys.size());
  (void)rows.find_or_create(exec, {keys.data(), 10}, {at.data(), 10});
  auto const before = content(rows);
  keys[1990] = narrow::pack(table_id{3}, 5);
  CHECK_THROWS_WITH_AS(
      (void)rows.find_or_create(exec, {keys.data(), keys.size()}, {at.data(), at.size()}),
      doctest::Contains("table 3, but there are only 3"), inlay::error);
  CHECK(content(rows) == before);
}

TEST_CASE("host_rows: erased places are used again, so a table that churns does not grow") {
  host_exec const exec(1);
  auto rows = open(8, 0, 1024);
  std::vector<float*> at(100);
  std::size_t bytes = 0;
  for (std::uint64_t round = 0; round < 50; ++round) {
    auto const keys = keys_from(round * 100, 100);
    (void)rows.find_or_create(exec, {keys.data(), 100}, {at.data(), 100});
    if (round == 1) bytes = rows.bytes();
    for (auto const key : keys) {
      rows.erase(key);
    }
  }
  CHECK(rows.size() == 0);
  CHECK(rows.bytes() <= 2 * bytes);
}

TEST_CASE("host_rows: a row without columns is an error in words") {
  CHECK_THROWS_WITH_AS(open(0, 1, 100), doctest::Contains("at least one column"), inlay::error);
}

TEST_CASE("row_slabs: any slab size is legal, and a slab never numbers more rows than 32 bits") {
  auto const most = std::size_t{1} << 40U;
  for (std::size_t slab_bytes : {std::size_t{0}, std::size_t{1}, most, ~std::size_t{0}}) {
    CAPTURE(slab_bytes);
    inlay::row_slabs slabs(1, slab_bytes);
    failing_new::most_bytes = std::size_t{1} << 20U;
    failing_new::largest = 0;
    if (slab_bytes < most) {
      CHECK(slabs.add() == 0);
      *slabs.row(0) = 1.0F;
      CHECK(slabs.bytes() == sizeof(float));
    } else {
      CHECK_THROWS_AS(slabs.add(), std::bad_alloc);
      CHECK(failing_new::largest <= (std::size_t{1} << 31U) * sizeof(float));
      CHECK(slabs.bytes() == 0);
    }
    failing_new::most_bytes = ~std::size_t{0};
  }
}

TEST_CASE("host_table: opens rows in slabs of the size that it names") {
  auto rows = inlay::host_table{.slab_bytes = 400}.open(
      new_row<narrow, inlay::normal>({}, 1, 10, {1.0F}, {}));
  narrow::key const key = narrow::pack(table_id{0}, 1);
  float* at = nullptr;
  (void)rows.find_or_create(host_exec(1), {&key, 1}, {&at, 1});
  CHECK(rows.bytes() >= 320);
  CHECK(rows.bytes() < 4000);
}
