#include <inlay/cache/slot_pins.hpp>

#include <inlay/core/random.hpp>

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

using inlay::slot_id;
using inlay::slot_pins;

TEST_CASE("slot_pins: equals sets of slots, however many steps share them") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    inlay::random_stream const random{inlay::mix(seed)};
    auto const slots = 1 + random.bits(0) % 200;
    slot_pins pins(slots);
    std::map<slot_pins::set_id, std::set<slot_id>> oracle;
    for (std::uint64_t n = 1; n < 400; ++n) {
      auto const draw = random.bits(n);
      if (oracle.empty() || (draw % 3 == 0 && oracle.size() < 5)) {
        pins.reserve();
        CHECK(oracle.try_emplace(pins.open()).second);
      } else if (draw % 7 == 0) {
        pins.close(oracle.begin()->first);
        oracle.erase(oracle.begin());
      } else {
        auto const slot = static_cast<slot_id>((draw >> 8U) % slots);
        pins.pin(oracle.rbegin()->first, slot);
        oracle.rbegin()->second.insert(slot);
      }
      std::set<slot_id> all;
      for (auto const& [set, pinned] : oracle) {
        all.insert(pinned.begin(), pinned.end());
      }
      CHECK(pins.size() == all.size());
      CHECK(pins.steps() == oracle.size());
      for (slot_id slot = 0; slot < slots; ++slot) {
        if (pins(slot) != all.contains(slot)) FAIL("slot " << slot << " is not as it should be");
      }
    }
  }
}

TEST_CASE("slot_pins: after reserve, a set opens without memory, and closed ones are used again") {
  slot_pins pins(1000);
  pins.reserve();
  auto const bytes = pins.bytes();
  for (int round = 0; round < 5; ++round) {
    pins.reserve();
    auto const set = pins.open();
    pins.pin(set, 999);
    pins.close(set);
  }
  CHECK(pins.bytes() == bytes);
  CHECK(pins.size() == 0);
}
