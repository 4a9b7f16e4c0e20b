#include <inlay/core/dyadic_nodes.hpp>

#include <inlay/core/sums.hpp>
#include <inlay/testing/trial.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <set>
#include <vector>

using inlay::dyadic_nodes;
using inlay::tree_sum;
using inlay::testing::trial;

namespace {

constexpr std::size_t width = 3;

std::vector<std::uint32_t> nodes_of(std::uint32_t first, std::uint32_t last) {
  inlay::buffer<std::uint32_t> nodes;
  dyadic_nodes(first, last, nodes);
  return {nodes.begin(), nodes.end()};
}

/// Magnitudes so unlike that the order of addition shows in the bits, and some -0.
std::vector<float> gradient_of(std::uint32_t chunk) {
  std::vector<float> result(width, -0.0F);
  inlay::random_stream const random{inlay::mix(chunk)};
  for (std::size_t i = 0; i < width; ++i) {
    if (random.bits(50 + i) % 4 == 0) continue;
    result[i] = random.normal(i) * static_cast<float>(1U << (random.bits(100 + i) % 20));
  }
  return result;
}

/// The sum of chunks in [first, last), each opened alone; what is opened takes its place.
std::vector<std::uint32_t> bits_of_sum(std::set<std::uint32_t> const& chunks,
                                       std::vector<std::uint32_t> const& cuts) {
  tree_sum inner(width);
  tree_sum outer(width);
  for (std::size_t n = 0; n + 1 < cuts.size(); ++n) {
    auto at = chunks.lower_bound(cuts[n]);
    auto const end = chunks.lower_bound(cuts[n + 1]);
    if (at == end) continue;
    inner.clear();
    for (; at != end; ++at) {
      std::copy_n(gradient_of(*at).data(), width, inner.open(*at));
    }
    std::copy_n(inner.total(), width, outer.open(cuts[n]));
  }
  std::vector<std::uint32_t> bits;
  bits.reserve(width);
  for (std::size_t i = 0; i < width; ++i) {
    bits.push_back(std::bit_cast<std::uint32_t>(outer.total()[i]));
  }
  return bits;
}

}  // namespace

TEST_CASE("dyadic_nodes: ranges fall into their largest aligned nodes") {
  using list = std::vector<std::uint32_t>;
  CHECK(nodes_of(3, 8) == list{3, 4});
  CHECK(nodes_of(0, 8) == list{0});
  CHECK(nodes_of(0, 7) == list{0, 4, 6});
  CHECK(nodes_of(5, 6) == list{5});
  CHECK(nodes_of(1, 16) == list{1, 2, 4, 8});
  CHECK(nodes_of(4, 4).empty());
  CHECK(nodes_of(0, ~0U).size() == 32);
  CHECK(nodes_of(~0U - 1, ~0U) == list{~0U - 1});
}

TEST_CASE("dyadic_nodes: sums of nodes, cut anywhere among ranks, make the tree of single chunks") {
  for (std::uint64_t seed = 0; seed < 2000; ++seed) {
    CAPTURE(seed);
    trial draw("dyadic_nodes", seed);
    auto const end = static_cast<std::uint32_t>(1 + draw.below(seed % 2 == 0 ? 40 : 1000));
    std::set<std::uint32_t> chunks{static_cast<std::uint32_t>(draw.below(end))};
    for (auto more = draw.below(60); more > 0; --more) {
      chunks.insert(static_cast<std::uint32_t>(draw.below(end)));
    }
    std::set<std::uint32_t> ranks{0, end};  // where their chunks begin
    for (auto more = draw.below(7); more > 0; --more) {
      ranks.insert(static_cast<std::uint32_t>(draw.below(end)));
    }
    std::vector<std::uint32_t> cuts;
    for (auto at = ranks.begin(); *at != end; ++at) {
      auto const nodes = nodes_of(*at, *std::next(at));
      cuts.insert(cuts.end(), nodes.begin(), nodes.end());
    }
    cuts.push_back(end);
    std::vector<std::uint32_t> single(end + 1);
    for (std::uint32_t chunk = 0; chunk <= end; ++chunk) {
      single[chunk] = chunk;
    }
    CHECK(bits_of_sum(chunks, cuts) == bits_of_sum(chunks, single));
  }
}
