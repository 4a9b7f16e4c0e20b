#include <inlay/core/huge_pages.hpp>

#include "sanitized.hpp"

#include <inlay/core/buffer.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

namespace {

/// KiB on huge pages of the mapping that `memory` is in; 0 where the system does not say.
std::size_t on_huge_pages(void const* memory) {
  auto const wanted = reinterpret_cast<std::uintptr_t>(memory);
  std::ifstream maps("/proc/self/smaps");
  bool inside = false;
  for (std::string line; std::getline(maps, line);) {
    std::istringstream words(line);
    std::uintptr_t first = 0;
    std::uintptr_t last = 0;
    char dash = 0;
    if (words >> std::hex >> first >> dash >> last && dash == '-') {
      inside = first <= wanted && wanted < last;
    } else if (inside && line.starts_with("AnonHugePages:")) {
      return std::stoul(line.substr(line.find(':') + 1));
    }
  }
  return 0;
}

void touch(inlay::buffer<char>& bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += 4096) {
    bytes[at] = 1;
  }
}

constexpr std::size_t size = 16 * inlay::huge_page;

}  // namespace

TEST_CASE("huge_pages: memory that others used on small pages comes on huge ones" *
          doctest::skip(is_sanitized)) {
  std::size_t fresh = 0;
  {
    inlay::buffer<char> first(size);
    touch(first);
    fresh = on_huge_pages(first.data());
  }
  if (fresh == 0) {
    MESSAGE("skipped: this system gives no huge pages, or does not say so");
    return;
  }
  // Many small blocks, given back beneath one that stays: the allocator keeps their pages.
  std::vector<std::unique_ptr<char[]>> blocks(2 * size / 512);
  for (auto& block : blocks) {
    block = std::make_unique<char[]>(500);
  }
  auto const last = std::move(blocks.back());
  auto const lowest = reinterpret_cast<std::uintptr_t>(blocks.front().get());
  auto const highest = reinterpret_cast<std::uintptr_t>(last.get());
  blocks.clear();
  inlay::buffer<char> second(size);
  auto const at = reinterpret_cast<std::uintptr_t>(second.data());
  if (at < lowest || at > highest) {
    MESSAGE("skipped: the allocator did not hand the same memory out again");
    return;
  }
  touch(second);
  CHECK(on_huge_pages(second.data()) > 0);
}
