#include <inlay/bag/pooling.hpp>

#include <inlay/testing/pooling_laws.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using any_pooling = inlay::one_of<inlay::sum, inlay::mean>;

TEST_CASE("sum and mean: the laws of pooling hold") {
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    inlay::testing::check_pooling(inlay::sum{}, seed);
    inlay::testing::check_pooling(inlay::mean{}, seed);
  }
}

TEST_CASE("one_of poolings: the laws hold with another one for each table") {
  std::vector<any_pooling> const poolings{inlay::mean{}, inlay::sum{}, inlay::mean{}, inlay::sum{}};
  for (std::uint64_t seed = 1; seed <= 4; ++seed) {
    CAPTURE(seed);
    inlay::testing::check_pooled_fields(poolings, seed);
  }
}

/// The pooled value of one bag of rows 1, 2, 4 (dim 1).
template <class Pooling>
float pooled(std::vector<inlay::raw_id> const& ids, std::vector<float> const& weights) {
  inlay::batch one;
  one.reset_bags({1, 1, 0});
  if (weights.empty()) {
    one.add_bag({ids.data(), ids.size()});
  } else {
    one.add_bag({ids.data(), ids.size()}, {weights.data(), weights.size()});
  }
  inlay::host_exec const exec(1);
  inlay::bag_field<Pooling> const field{};
  inlay::bag_list bags;
  inlay::buffer<inlay::narrow::key> keys;
  inlay::collect_bags<inlay::narrow, Pooling>(exec, one.view(), {&field, 1}, 1, 1, bags, keys);
  float const rows[] = {1.0F, 2.0F, 4.0F};
  std::vector<inlay::virtual_id> places(ids.begin(), ids.end());
  std::vector<float const*> const at{rows, rows + 1, rows + 2};
  float result = -1.0F;
  inlay::pool_bags(exec, {bags, {places.data(), places.size()}, {at.data(), at.size()}, 1},
                   &result);
  return result;
}

TEST_CASE("sum: weights multiply, an empty bag is zero") {
  CHECK(pooled<inlay::sum>({0, 1, 2}, {}) == 7.0F);
  CHECK(pooled<inlay::sum>({0, 1, 2, 2}, {1.0F, 0.5F, 0.25F, 0.0F}) == 3.0F);
  CHECK(pooled<inlay::sum>({}, {}) == 0.0F);
}

TEST_CASE("mean: divides by the sum of weights; zero where that is zero") {
  CHECK(pooled<inlay::mean>({0, 1, 1, 2}, {}) == 2.25F);
  CHECK(pooled<inlay::mean>({0, 2}, {3.0F, 1.0F}) == 1.75F);
  CHECK(pooled<inlay::mean>({0, 2}, {0.0F, 0.0F}) == 0.0F);
  CHECK(pooled<inlay::mean>({0, 2}, {1.0F, -1.0F}) == 0.0F);
  CHECK(pooled<inlay::mean>({}, {}) == 0.0F);
}

TEST_CASE("bags: an id that does not fit is named with its field and table") {
  inlay::batch one;
  one.reset({2, 2, 0});
  for (std::size_t i = 0; i < 4; ++i) {
    one.ids()[i] = i;
  }
  one.ids()[3] = std::uint64_t{1} << 48U;
  std::vector<inlay::bag_field<inlay::sum>> const fields{{0, inlay::table_id{5}, 0, {}},
                                                         {1, inlay::table_id{7}, 1, {}}};
  inlay::bag_list bags;
  inlay::buffer<inlay::narrow::key> keys;
  for (std::size_t threads = 1; threads <= 2; ++threads) {
    CHECK_THROWS_WITH_AS(
        (inlay::collect_bags<inlay::narrow, inlay::sum>(inlay::host_exec(threads), one.view(),
                                                        {fields.data(), 2}, 2, 2, bags, keys)),
        doctest::Contains(
            "id 281474976710656 of field 1 does not fit into a narrow key of table 7"),
        inlay::error);
  }
}

TEST_CASE("bags: occurrences go row by row, and chunks end behind their rows") {
  inlay::batch from;
  from.reset({5, 2, 0});
  for (std::size_t i = 0; i < 10; ++i) {
    from.ids()[i] = i;  // bag f * 5 + r holds this id
  }
  std::vector<inlay::bag_field<inlay::sum>> const fields{{0, {}, 0, {}}, {1, {}, 3, {}}};
  inlay::bag_list bags;
  inlay::buffer<inlay::narrow::key> keys;
  inlay::collect_bags<inlay::narrow, inlay::sum>(inlay::host_exec(2), from.view(),
                                                 {fields.data(), 2}, 2, 6, bags, keys);
  std::vector<inlay::raw_id> order;
  for (auto const key : keys) {
    order.push_back(inlay::narrow::id(key));
  }
  CHECK(order == std::vector<inlay::raw_id>{0, 5, 1, 6, 2, 7, 3, 8, 4, 9});
  CHECK(std::vector<std::uint32_t>(bags.chunk_ends.begin(), bags.chunk_ends.end()) ==
        std::vector<std::uint32_t>{4, 8, 10});
  CHECK(std::vector<std::uint32_t>(bags.places.begin(), bags.places.end()) ==
        std::vector<std::uint32_t>{0, 3, 6, 9, 12, 15, 18, 21, 24, 27});
  CHECK(bags.factors.empty());
}

// The laws must also see what they look for.

/// Divides by nothing.
struct mean_without_care {
  static constexpr char const* name = "mean_without_care";

  [[nodiscard]] float factor(std::size_t, float weight_sum) const noexcept {
    return 1.0F / weight_sum;
  }
};

TEST_CASE("pooling laws: a factor that is not finite is found") {
  CHECK_THROWS_WITH_AS(inlay::testing::check_pooling(mean_without_care{}),
                       doctest::Contains("give a finite factor"), inlay::error);
}

TEST_CASE("pooling laws: a wrong sum, a wrong gradient and a wrong tree are found") {
  std::vector<inlay::sum> const poolings(2);
  auto const from = inlay::testing::random_batch(
      {.rows = 700, .fields = 2, .distinct = 60, .weights = inlay::testing::bag_weights::random},
      9);
  inlay::testing::detail::pooled_case<inlay::sum> tried(poolings, from, 128, 1, 9);
  inlay::testing::detail::check_forward(tried, 9);
  auto const pooled_place = tried.fields[1].column + 3 * tried.stride;
  auto const was = std::exchange(tried.pooled[pooled_place], 1e3F);
  CHECK_THROWS_AS(inlay::testing::detail::check_forward(tried, 9), inlay::error);
  CHECK_THROWS_AS(inlay::testing::detail::check_adjoint(tried, 9), inlay::error);
  tried.pooled[pooled_place] = was;
  inlay::testing::detail::check_adjoint(tried, 9);
  inlay::testing::detail::check_tree(tried, 9);
  tried.gradients[0] = std::nextafter(tried.gradients[0], 9.0F);
  CHECK_THROWS_AS(inlay::testing::detail::check_tree(tried, 9), inlay::error);
  inlay::testing::detail::check_backward(tried, 9);
  tried.gradients[0] += 0.01F;
  CHECK_THROWS_AS(inlay::testing::detail::check_backward(tried, 9), inlay::error);
}

}  // namespace
