#include <inlay/exchange/owner_of.hpp>

#include <inlay/vsid/keys.hpp>
#include <inlay/vsid/wide.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <vector>

using inlay::owner_of;

namespace {

constexpr std::size_t keys = 400'000;

/// For each of so many equal parts of the upper (or lower) 32 bits of hashes, how many keys of a
/// rank fall there; ids count up, as hashed data never would be worse.
template <class Keys>
std::vector<std::vector<std::size_t>> spread(std::size_t ranks, std::size_t parts, unsigned shift) {
  std::vector<std::vector<std::size_t>> counts(ranks, std::vector<std::size_t>(parts));
  for (std::size_t id = 0; id < keys; ++id) {
    auto const bits = hash(Keys::pack(inlay::table_id{static_cast<std::uint16_t>(id % 7)}, id));
    auto const part = ((bits >> shift) & 0xffffffffU) * parts >> 32U;
    ++counts[owner_of(bits, ranks)][part];
  }
  return counts;
}

template <class Keys>
void check_spread() {
  for (std::size_t const ranks : {1U, 2U, 3U, 4U, 7U}) {
    for (unsigned const shift : {0U, 32U}) {
      CAPTURE(ranks);
      CAPTURE(shift);
      std::size_t const parts = 64;
      auto const fair = static_cast<double>(keys) / static_cast<double>(ranks * parts);
      for (auto const& of_rank : spread<Keys>(ranks, parts, shift)) {
        for (auto const count : of_rank) {
          CHECK(static_cast<double>(count) > 0.8 * fair);
          CHECK(static_cast<double>(count) < 1.2 * fair);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("owner_of: the keys of every rank spread over all parts of an index") {
  check_spread<inlay::narrow>();
  check_spread<inlay::wide>();
}

TEST_CASE("owner_of: owners are ranks, and one rank owns all") {
  for (std::uint64_t n = 0; n < 1000; ++n) {
    CHECK(owner_of(n, 1) == 0);
    CHECK(owner_of(inlay::mix(n), 3) < 3);
  }
  CHECK(owner_of(~std::uint64_t{0}, std::size_t{1} << 32U) < std::size_t{1} << 32U);
}
