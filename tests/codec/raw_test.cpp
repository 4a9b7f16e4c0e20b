#include <inlay/codec/raw.hpp>

#include <inlay/testing/codec_laws.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <vector>

namespace {

TEST_CASE("raw: the laws of a codec hold, without any loss") {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    CAPTURE(seed);
    inlay::testing::check_codec(inlay::raw{}, inlay::testing::lossless{}, seed);
  }
}

TEST_CASE("raw: bytes are the floats of a row after another") {
  std::vector<float> const values{1.0F, 2.0F, 99.0F, 3.0F, 4.0F, 99.0F};
  std::vector<float> const expected{1.0F, 2.0F, 3.0F, 4.0F};
  std::vector<std::byte> bytes(inlay::raw{}.max_bytes(2, 2));
  CHECK(inlay::raw{}.encode({values.data(), 2, 2, 3}, {bytes.data(), bytes.size()}) == 16);
  CHECK(std::memcmp(bytes.data(), expected.data(), 16) == 0);
}

TEST_CASE("raw: a wrong length is a sentence with both lengths") {
  std::vector<std::byte> const bytes(15);
  std::vector<float> into(4);
  CHECK_THROWS_WITH_AS(inlay::raw{}.decode({bytes.data(), bytes.size()}, {into.data(), 2, 2}),
                       doctest::Contains("raw rows of 16 bytes were expected, and 15 came"),
                       inlay::error);
}

// The laws must also see what they look for.

struct forgets_last_column : inlay::raw {
  void decode(inlay::span<std::byte const> bytes, inlay::matrix_view<float> into) const {
    inlay::raw::decode(bytes, into);
    for (std::size_t row = 0; row < into.rows && into.cols > 0; ++row) {
      into.row(row)[into.cols - 1] = 0.0F;
    }
  }
};

struct writes_behind : inlay::raw {
  std::size_t encode(inlay::matrix_view<float const> rows, inlay::span<std::byte> into) const {
    auto const size = inlay::raw::encode(rows, into);
    into.data()[size] = std::byte{0};
    return size;
  }
};

struct takes_longer_input : inlay::raw {
  void decode(inlay::span<std::byte const> bytes, inlay::matrix_view<float> into) const {
    auto const needed = std::min(bytes.size(), max_bytes(into.rows, into.cols));
    inlay::raw::decode(bytes.first(needed), into);
  }
};

/// Turns signalling NaNs into quiet ones, as a conversion would.
struct quiets : inlay::raw {
  void decode(inlay::span<std::byte const> bytes, inlay::matrix_view<float> into) const {
    inlay::raw::decode(bytes, into);
    for (std::size_t row = 0; row < into.rows; ++row) {
      for (auto& value : into.row(row)) {
        if (value != value) value = std::numeric_limits<float>::quiet_NaN();
      }
    }
  }
};

TEST_CASE("codec laws: each breach is found and named") {
  inlay::testing::lossless const exact;
  CHECK_THROWS_WITH_AS(inlay::testing::check_codec(forgets_last_column{}, exact),
                       doctest::Contains("within its bound"), inlay::error);
  CHECK_THROWS_WITH_AS(inlay::testing::check_codec(writes_behind{}, exact),
                       doctest::Contains("write nothing outside its buffer"), inlay::error);
  CHECK_THROWS_WITH_AS(inlay::testing::check_codec(takes_longer_input{}, exact),
                       doctest::Contains("refuse bytes with one more at the end"), inlay::error);
  CHECK_THROWS_WITH_AS(inlay::testing::check_codec(quiets{}, exact),
                       doctest::Contains("within its bound"), inlay::error);
  inlay::testing::check_codec(quiets{}, [](inlay::matrix_view<float const>) { return 0.0; });
}

}  // namespace
