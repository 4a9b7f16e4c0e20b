#include <inlay/core/random.hpp>

#include <inlay/core/hash.hpp>

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <set>

using inlay::random_stream;

TEST_CASE("random: the generator gives the numbers that it always gave") {
  // SplitMix64 from 0 and from 1234567, as its authors' program prints them. Tables, shuffles and
  // splits stand on these bits: a change of any is a new major version.
  constexpr random_stream zero{0};
  static_assert(zero.bits(0) == 0xe220a8397b1dcdafU);
  static_assert(zero.bits(1) == 0x6e789e6aa1b965f4U);
  static_assert(zero.bits(2) == 0x06c45d188009454fU);
  constexpr random_stream other{1234567};
  static_assert(other.bits(0) == 6457827717110365317U);
  static_assert(other.bits(1) == 3203168211198807973U);
  static_assert(other.bits(4) == 16408922859458223821U);
  CHECK(zero.uniform(0) == 0x1.c4415p-1F);
  CHECK(inlay::mix(0) == 0);
}

TEST_CASE("random: uniforms are in [0, 1) with the moments of a uniform") {
  constexpr int draws = 200'000;
  random_stream const stream{42};
  double sum = 0;
  double squares = 0;
  double sum_double = 0;
  for (std::uint64_t n = 0; n < draws; ++n) {
    auto const u = static_cast<double>(stream.uniform(n));
    auto const v = stream.uniform_double(n);
    REQUIRE((u >= 0 && u < 1 && v >= 0 && v < 1));
    CHECK(std::abs(u - v) < 0x1p-23);
    sum += u;
    squares += u * u;
    sum_double += v;
  }
  auto const margin = 5 / std::sqrt(12.0 * draws);
  CHECK(std::abs(sum / draws - 0.5) < margin);
  CHECK(std::abs(sum_double / draws - 0.5) < margin);
  CHECK(std::abs(squares / draws - 1.0 / 3) < margin);
}

TEST_CASE("random: normals have the moments of a sum of twelve uniforms") {
  constexpr int draws = 200'000;
  random_stream const stream{43};
  double moments[5] = {};
  for (std::uint64_t n = 0; n < draws; ++n) {
    auto const x = static_cast<double>(stream.normal(n));
    REQUIRE(std::abs(x) < 6);
    double power = 1;
    for (auto& moment : moments) {
      moment += power / draws;
      power *= x;
    }
  }
  CHECK(std::abs(moments[1]) < 5 / std::sqrt(draws));
  CHECK(std::abs(moments[2] - 1) < 5 * std::sqrt(2.0 / draws));
  CHECK(std::abs(moments[3]) < 5 * std::sqrt(15.0 / draws));
  CHECK(std::abs(moments[4] - 2.9) < 5 * std::sqrt(96.0 / draws));  // 3 - 6/5/12
}

TEST_CASE("random: draws of neighbouring streams and counters have nothing in common") {
  std::set<std::uint64_t> seen;
  for (std::uint64_t key = 0; key < 100; ++key) {
    for (std::uint64_t n = 0; n < 100; ++n) {
      seen.insert(random_stream{key}.bits(n));
    }
  }
  CHECK(seen.size() == 100 * 100);
}

TEST_CASE("hash: each bit that goes in moves about half of those that come out") {
  for (unsigned bit = 0; bit < 64; ++bit) {
    int moved = 0;
    int moved_second = 0;
    for (std::uint64_t n = 1; n <= 200; ++n) {
      auto const x = random_stream{7}.bits(n);
      moved += std::popcount(inlay::mix(x) ^ inlay::mix(x ^ (std::uint64_t{1} << bit)));
      moved_second +=
          std::popcount(inlay::mix(n, x) ^ inlay::mix(n, x ^ (std::uint64_t{1} << bit)));
    }
    CAPTURE(bit);
    CHECK(std::abs(moved / 200.0 - 32) < 2);
    CHECK(std::abs(moved_second / 200.0 - 32) < 2);
  }
  CHECK(inlay::mix(1, 2) != inlay::mix(2, 1));
}
