#include <inlay/core/views.hpp>

#include <inlay/core/ids.hpp>

#include <doctest/doctest.h>

#include <numeric>
#include <type_traits>
#include <vector>

TEST_CASE("matrix_view: rows lie a stride apart, and a range of rows is a view of its own") {
  std::vector<float> values(4 * 5);
  std::iota(values.begin(), values.end(), 0.0F);
  inlay::matrix_view<float> const view(values.data(), 4, 3, 5);
  CHECK(view.size() == 12);
  CHECK(view.row(2).size() == 3);
  CHECK(view.row(2)[1] == 11.0F);
  auto const last = view.row_range(1, 3);
  CHECK(last.rows == 3);
  CHECK(last.row(2)[0] == 15.0F);
  inlay::matrix_view<float const> const fixed = view;
  CHECK(fixed.row(3).data() == view.row(3).data());
  CHECK(inlay::matrix_view<float>{}.size() == 0);
}

TEST_CASE("ids: tables and steps are types of their own") {
  CHECK(inlay::index(inlay::table_id{7}) == 7);
  CHECK(inlay::number(inlay::next(inlay::step_id{41})) == 42);
  CHECK_FALSE(std::is_convertible_v<inlay::table_id, inlay::raw_id>);
  CHECK_FALSE(std::is_convertible_v<int, inlay::step_id>);
}
