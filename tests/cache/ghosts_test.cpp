#include <inlay/cache/ghosts.hpp>

#include <inlay/core/random.hpp>
#include <inlay/core/views.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

using inlay::ghosts;

namespace {

struct slot {
  inlay::ghost_cell ghost;
};

std::uint32_t tag_of(std::uint64_t key) { return ghosts::tag_of(inlay::mix(key + 1)); }

}  // namespace

TEST_CASE("ghosts: who has just gone is known, whatever the number of slots") {
  for (std::size_t size = 1; size < 70; ++size) {
    CAPTURE(size);
    std::vector<slot> slots(size);
    inlay::span<slot> const view(slots.data(), size);
    ghosts gone;
    for (std::uint64_t key = 0; key < 300; ++key) {
      CHECK(ghosts::find(view, tag_of(key)) == inlay::no_way);
      gone.remember(view, tag_of(key), static_cast<std::uint32_t>(key % 2), 0);
      auto const found = ghosts::find(view, tag_of(key));
      REQUIRE(found < size);
      CHECK(std::uint64_t{slots[found].ghost.list} == key % 2);
      CHECK(gone.age(slots[found].ghost) == 0);
    }
  }
}

TEST_CASE("ghosts: the oldest of four gives way") {
  std::vector<slot> slots(4);
  inlay::span<slot> const view(slots.data(), slots.size());
  ghosts gone;
  for (std::uint64_t key = 0; key < 100; ++key) {
    auto const before = gone.remember(view, tag_of(key), 0, 0);
    CHECK(before.tag == (key < 4 ? 0 : tag_of(key - 4)));
    CHECK(ghosts::find(view, tag_of(key < 3 ? 0 : key - 3)) != inlay::no_way);
  }
}

TEST_CASE("ghosts: of two lists the one that is given up gives way first, the oldest of it") {
  std::vector<slot> slots(4);
  inlay::span<slot> const view(slots.data(), slots.size());
  ghosts gone;
  for (std::uint64_t key = 0; key < 4; ++key) {
    gone.remember(view, tag_of(key), key < 1 ? 0 : 1, 0);
  }
  CHECK(gone.remember(view, tag_of(100), 0, 1).tag == tag_of(1));
  CHECK(gone.remember(view, tag_of(101), 0, 1).tag == tag_of(2));
  CHECK(gone.remember(view, tag_of(102), 0, 0).tag == tag_of(0));
}

TEST_CASE("ghosts: most of as many rows as there are slots are known") {
  constexpr std::size_t size = 10'000;
  std::vector<slot> slots(size);
  inlay::span<slot> const view(slots.data(), size);
  ghosts gone;
  for (std::uint64_t key = 0; key < 5 * size; ++key) {
    gone.remember(view, tag_of(key), 0, 0);
  }
  std::size_t known = 0;
  for (std::uint64_t key = 4 * size; key < 5 * size; ++key) {
    known += ghosts::find(view, tag_of(key)) != inlay::no_way ? 1U : 0U;
  }
  CHECK(known > size * 7 / 10);
}
