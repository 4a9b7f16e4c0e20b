#include <inlay/core/columns.hpp>

#include <inlay/core/random.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

namespace {

TEST_CASE("for_columns: every column of any width is visited once, and nothing beside the row") {
  for (std::size_t dim = 0; dim <= 67; ++dim) {
    CAPTURE(dim);
    std::vector<float> row(dim + 2);
    inlay::for_columns(dim, [&](auto at) {
      at.store(row.data() + 1, at.load(row.data() + 1) + 1.0F + 0.0F * at.load(row.data() + 1));
    });
    CHECK(row.front() == 0.0F);
    CHECK(row.back() == 0.0F);
    for (std::size_t i = 1; i <= dim; ++i) {
      CHECK(row[i] == 1.0F);
    }
  }
}

TEST_CASE("square_root: the bits of std::sqrt, one by one and side by side") {
  std::uint64_t const seed = 5;
  std::vector<float> values{0.0F,
                            -0.0F,
                            1.0F,
                            2.0F,
                            0.1F,
                            std::numeric_limits<float>::min(),
                            std::numeric_limits<float>::denorm_min(),
                            std::numeric_limits<float>::max(),
                            std::numeric_limits<float>::infinity()};
  while (values.size() < 100'003) {  // any bits of a number that is not negative
    auto const bits = static_cast<std::uint32_t>(inlay::mix(seed, values.size())) % 0x7f800000U;
    values.push_back(std::bit_cast<float>(bits));
  }
  std::vector<float> roots(values.size());
  inlay::for_columns(values.size(), [&](auto at) {
    at.store(roots.data(), inlay::square_root(at.load(values.data())));
  });
  std::size_t different = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto const expected = std::bit_cast<std::uint32_t>(std::sqrt(values[i]));
    different += std::bit_cast<std::uint32_t>(roots[i]) == expected ? 0U : 1U;
    different += std::bit_cast<std::uint32_t>(inlay::square_root(values[i])) == expected ? 0U : 1U;
  }
  CHECK(different == 0);
}

}  // namespace
