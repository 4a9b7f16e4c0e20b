#include <inlay/cache/frequency_sketch.hpp>

#include <inlay/core/random.hpp>
#include <inlay/core/views.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

using inlay::frequency_sketch;

namespace {

struct cell {
  std::uint64_t counters = 0;
};

constexpr std::uint32_t never = 1U << 31U;

std::uint32_t tag_of(std::uint64_t key) {
  return static_cast<std::uint32_t>(inlay::mix(key + 1) >> 32U);
}

}  // namespace

TEST_CASE("frequency_sketch: never says less than a row was used, up to fifteen") {
  for (std::size_t size : {1U, 2U, 7U, 100U, 5000U}) {
    CAPTURE(size);
    std::vector<cell> cells(size);
    inlay::span<cell> const view(cells.data(), size);
    frequency_sketch sketch;
    std::vector<std::uint32_t> counts(2 * size);
    for (std::size_t n = 0; n < 10 * size; ++n) {
      auto const key = inlay::mix(n) % counts.size();
      auto const count = static_cast<std::uint32_t>(inlay::mix(n, 1) % 3);
      sketch.add(view, tag_of(key), count, never);
      counts[key] += count;
    }
    std::size_t less = 0;
    for (std::size_t key = 0; key < counts.size(); ++key) {
      auto const said = frequency_sketch::estimate(view, tag_of(key));
      less += said < std::min(counts[key], frequency_sketch::most) ? 1U : 0U;
      CHECK(said <= frequency_sketch::most);
    }
    CHECK(less == 0);
  }
}

TEST_CASE("frequency_sketch: with a cell for each row in use, most counts are exact") {
  constexpr std::size_t size = 10'000;
  std::vector<cell> cells(size);
  inlay::span<cell> const view(cells.data(), size);
  frequency_sketch sketch;
  for (std::uint64_t key = 0; key < size; ++key) {
    sketch.add(view, tag_of(key), static_cast<std::uint32_t>(key % 5), never);
  }
  std::size_t exact = 0;
  for (std::uint64_t key = 0; key < size; ++key) {
    exact += frequency_sketch::estimate(view, tag_of(key)) == key % 5 ? 1U : 0U;
  }
  CHECK(exact > size * 95 / 100);
}

TEST_CASE("frequency_sketch: all counts are halved once in age_after uses a slot") {
  constexpr std::size_t size = 50;
  std::vector<cell> cells(size);
  inlay::span<cell> const view(cells.data(), size);
  frequency_sketch sketch;
  sketch.add(view, tag_of(7), 12, never);
  CHECK(frequency_sketch::estimate(view, tag_of(7)) == 12);
  for (std::size_t n = 0; n < 3 * size; ++n) {
    sketch.add(view, tag_of(8), 0, 3);
  }
  CHECK(frequency_sketch::estimate(view, tag_of(7)) == 6);
}
