#include <inlay/core/sums.hpp>

#include <inlay/core/random.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <vector>

using inlay::tree_sum;

namespace {

using vector = std::vector<float>;

constexpr std::size_t width = 5;

/// A chunk's gradient, with magnitudes so unlike that the order of addition shows in the bits.
vector gradient_of(std::uint32_t chunk) {
  vector result(width);
  for (std::size_t i = 0; i < width; ++i) {
    inlay::random_stream const random{chunk};
    result[i] = random.normal(i) * static_cast<float>(1U << (random.bits(100 + i) % 20));
  }
  return result;
}

/// Node `number` of `level` by its definition: node 2i plus node 2i + 1 of the level below; one
/// without a child is the other child.
std::optional<vector> node(std::set<std::uint32_t> const& chunks, unsigned level,
                           std::uint64_t number) {
  auto const first = chunks.lower_bound(static_cast<std::uint32_t>(number << level));
  if (first == chunks.end() || (std::uint64_t{*first} >> level) != number) return std::nullopt;
  if (level == 0) return gradient_of(*first);
  auto left = node(chunks, level - 1, 2 * number);
  auto const right = node(chunks, level - 1, 2 * number + 1);
  if (!left) return right;
  for (std::size_t i = 0; right && i < width; ++i) {
    (*left)[i] += (*right)[i];
  }
  return left;
}

template <class Range>
vector summed(tree_sum& sum, Range const& chunks) {
  sum.clear();
  for (auto const chunk : chunks) {
    inlay::add(sum.open(chunk), gradient_of(chunk).data(), width);
  }
  auto const* const total = sum.total();
  return {total, total + width};
}

std::set<std::uint32_t> random_chunks(std::uint64_t seed) {
  inlay::random_stream const random{inlay::mix(seed)};
  std::set<std::uint32_t> chunks;
  auto const count = 1 + random.bits(0) % 60;
  auto const bits = random.bits(1) % 33;
  for (std::uint64_t n = 0; n < count; ++n) {
    auto const chunk = bits == 0 ? 0 : random.bits(2 + n) >> (64 - bits);
    chunks.insert(static_cast<std::uint32_t>(chunk));
  }
  return chunks;
}

}  // namespace

TEST_CASE("tree_sum: equals the tree of its definition bit for bit, for any set of chunks") {
  tree_sum sum(width);
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    CAPTURE(seed);
    auto const chunks = random_chunks(seed);
    CHECK(summed(sum, chunks) == node(chunks, 32, 0));
  }
}

TEST_CASE("tree_sum: all chunks of any count, the ends of the range, and a chain of all levels") {
  tree_sum sum(width);
  std::set<std::uint32_t> chunks;
  for (std::uint32_t count = 0; count < 70; ++count) {
    chunks.insert(count);
    CHECK(summed(sum, chunks) == node(chunks, 32, 0));
  }
  chunks = {0, ~std::uint32_t{0}};
  for (unsigned bit = 0; bit < 32; ++bit) {
    chunks.insert(std::uint32_t{1} << bit);
    chunks.insert(~std::uint32_t{0} << bit);
    CHECK(summed(sum, chunks) == node(chunks, 32, 0));
  }
}

TEST_CASE("tree_sum: ranks that own contiguous chunks and send their vectors get the same bits") {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    auto const chunks = random_chunks(seed);
    std::vector<std::uint32_t> const all(chunks.begin(), chunks.end());
    tree_sum whole(width);
    auto const expected = summed(whole, all);
    // Whoever gathers hears from the ranks in their order, so from the chunks in theirs.
    inlay::random_stream const random{inlay::mix(seed, 1)};
    tree_sum gathered(width);
    for (std::size_t first = 0, rank = 0; first < all.size(); ++rank) {
      auto const own = std::min<std::size_t>(all.size() - first, random.bits(rank) % 20);
      for (auto at = first; at < first + own; ++at) {
        inlay::add(gathered.open(all[at]), gradient_of(all[at]).data(), width);
      }
      first += own;
    }
    auto const* const total = gathered.total();
    CHECK(vector(total, total + width) == expected);
  }
}

TEST_CASE("tree_sum: the chunk that is open begins at zero, whatever was there") {
  tree_sum sum(3);
  for (int round = 0; round < 3; ++round) {
    sum.clear();
    for (std::uint32_t chunk = 0; chunk < 9; ++chunk) {
      auto* const open = sum.open(chunk);
      CHECK(std::all_of(open, open + 3, [](float x) { return x == 0.0F; }));
      std::fill_n(open, 3, 1.0F);
    }
    CHECK(sum.total()[2] == 9.0F);
  }
}

TEST_CASE("sums: fast takes the batch as one chunk, fixed takes 128 rows whatever the batch") {
  CHECK(inlay::fast_sums::rows_a_chunk(1000) == 1000);
  CHECK(inlay::fast_sums::rows_a_chunk(0) == 1);
  for (std::size_t rows : {0U, 1U, 127U, 128U, 5000U}) {
    CHECK(inlay::fixed_sums::rows_a_chunk(rows) == 128);
  }
}
