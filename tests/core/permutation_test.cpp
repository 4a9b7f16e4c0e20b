#include <inlay/core/permutation.hpp>

#include <inlay/core/random.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

using inlay::permutation;

namespace {

std::vector<std::uint64_t> order_of(permutation const& shuffled) {
  std::vector<std::uint64_t> items(shuffled.size());
  for (std::size_t place = 0; place < items.size(); ++place) {
    items[place] = shuffled(place);
  }
  return items;
}

bool is_bijection(std::vector<std::uint64_t> items) {
  std::sort(items.begin(), items.end());
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (items[i] != i) return false;
  }
  return true;
}

}  // namespace

TEST_CASE("permutation: every item has one place, for every size") {
  for (std::uint64_t size = 0; size <= 300; ++size) {
    CAPTURE(size);
    CHECK(is_bijection(order_of({size, size + 1})));
  }
  for (std::uint64_t size :
       {1023U, 1024U, 1025U, 4095U, 4097U, 65'535U, 65'536U, 65'537U, 100'000U}) {
    CAPTURE(size);
    CHECK(is_bijection(order_of({size, 7})));
  }
}

TEST_CASE("permutation: the largest sizes stay in range and give no item twice") {
  for (std::uint64_t size :
       {~std::uint64_t{0}, (std::uint64_t{1} << 63U) + 1, std::uint64_t{1} << 62U}) {
    permutation const shuffled(size, 3);
    std::vector<std::uint64_t> items;
    for (std::uint64_t place = 0; place < 2000; ++place) {
      items.push_back(shuffled(place));
      items.push_back(shuffled(size - 1 - place));
      CHECK(items.back() < size);
    }
    std::sort(items.begin(), items.end());
    CHECK(std::adjacent_find(items.begin(), items.end()) == items.end());
  }
}

TEST_CASE("permutation: is the same each time, and another for another seed") {
  CHECK(order_of({1000, 5}) == order_of({1000, 5}));
  auto const first = order_of({1000, 5});
  for (std::uint64_t seed = 6; seed < 40; ++seed) {
    auto const other = order_of({1000, seed});
    std::size_t equal = 0;
    for (std::size_t i = 0; i < first.size(); ++i) {
      equal += first[i] == other[i] ? 1U : 0U;
    }
    CHECK(equal < 12);  // about one by chance
  }
}

TEST_CASE("permutation: all orders of three items come about equally often") {
  std::map<std::vector<std::uint64_t>, int> times;
  constexpr int draws = 6000;
  for (std::uint64_t seed = 0; seed < draws; ++seed) {
    ++times[order_of({3, seed})];
  }
  CHECK(times.size() == 6);
  for (auto const& [order, count] : times) {
    CHECK(std::abs(count - draws / 6) < 5 * std::sqrt(draws / 6));
  }
}

TEST_CASE("permutation: an item's place says nothing about the item") {
  constexpr std::uint64_t size = 20'000;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    permutation const shuffled(size, seed);
    double sum = 0;
    for (std::uint64_t place = 0; place < size; ++place) {
      sum += (static_cast<double>(place) / size - 0.5) *
             (static_cast<double>(shuffled(place)) / size - 0.5);
    }
    // The correlation of two uniforms: standard deviation 1 / (12 sqrt(size)).
    CHECK(std::abs(sum / size) < 5.0 / 12 / std::sqrt(static_cast<double>(size)));
  }
}

TEST_CASE("permutation: seeds that follow each other have no rounds in common") {
  // With round keys seed, seed + 1, .. the shuffle of seed + 1 is that of seed slid by one round:
  // the places whose high half is r have, under seed + 1, the high halves that the places whose low
  // half is r have as low halves under seed.
  constexpr std::uint64_t half = 32;
  permutation const now(half * half, 11);
  permutation const later(half * half, 12);
  int slid = 0;
  for (std::uint64_t r = 0; r < half; ++r) {
    std::vector<std::uint64_t> low;
    std::vector<std::uint64_t> high;
    for (std::uint64_t i = 0; i < half; ++i) {
      low.push_back(now(i * half + r) % half);
      high.push_back(later(r * half + i) / half);
    }
    std::sort(low.begin(), low.end());
    std::sort(high.begin(), high.end());
    slid += low == high ? 1 : 0;
  }
  CHECK(slid == 0);
}
