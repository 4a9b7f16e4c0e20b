#include <inlay/core/power.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <initializer_list>

TEST_CASE("power: that of the library, for bases of zero to one and any exponent") {
  for (auto const base : {0.0, 1e-300, 0.1, 0.5, 0.9, 0.999, 1.0 - 1e-9, 1.0}) {
    for (std::uint64_t const exponent :
         {0ULL, 1ULL, 2ULL, 3ULL, 10ULL, 1000ULL, 16'777'216ULL, 1'000'000'007ULL, ~0ULL}) {
      CAPTURE(base);
      CAPTURE(exponent);
      CHECK(inlay::power(base, exponent) ==
            doctest::Approx(std::pow(base, static_cast<double>(exponent)))
                .scale(1e-300)
                .epsilon(1e-6));
    }
  }
}
