#include <inlay/core/buffer.hpp>

#include "failing_new.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <limits>
#include <numeric>
#include <utility>

using inlay::buffer;

TEST_CASE("buffer: memory begins on a cache line, whatever its size") {
  for (std::size_t size = 1; size < 300; ++size) {
    buffer<char> const bytes(size);
    CHECK(reinterpret_cast<std::uintptr_t>(bytes.data()) % buffer<char>::alignment == 0);
    CHECK(bytes.size() == size);
  }
}

TEST_CASE("buffer: empty ones hold nothing and can be walked") {
  buffer<int> none;
  CHECK(none.empty());
  CHECK(none.begin() == none.end());
  CHECK(none.view().empty());
  none.resize(0);
  none.assign(0, 7);
  none.clear();
  CHECK(none.capacity_bytes() == 0);
}

TEST_CASE("buffer: grow keeps what was there, over many growths") {
  buffer<int> numbers;
  for (int i = 0; i < 10'000; ++i) {
    numbers.push_back(i);
  }
  for (int i = 0; i < 10'000; ++i) {
    CHECK(numbers[static_cast<std::size_t>(i)] == i);
  }
  CHECK(numbers.capacity_bytes() < 2 * 10'000 * sizeof(int));
}

TEST_CASE("buffer: shrinking keeps the memory, so that steps do not allocate") {
  buffer<int> numbers(1000);
  auto const* const at = numbers.data();
  numbers.resize(10);
  numbers.resize(1000);
  numbers.assign(500, 3);
  CHECK(numbers.data() == at);
  CHECK(std::accumulate(numbers.begin(), numbers.end(), 0) == 1500);
}

TEST_CASE("buffer: moving takes the memory and leaves an empty buffer that can be used again") {
  buffer<int> first;
  first.assign(5, 42);
  buffer<int> second(std::move(first));
  CHECK(second.size() == 5);
  CHECK(first.empty());  // NOLINT(bugprone-use-after-move): what is tested
  first.push_back(1);
  CHECK(first[0] == 1);
  first = std::move(second);
  CHECK(first.size() == 5);
  CHECK(first[4] == 42);
  second.push_back(2);  // NOLINT(bugprone-use-after-move)
  CHECK(second.size() == 1);
}

TEST_CASE("buffer: when memory runs out it is as before") {
  auto const filled = [] {
    buffer<int> numbers;
    numbers.assign(16, 7);
    return numbers;
  };
  auto const unchanged = [](buffer<int> const& numbers, int const* at) {
    return numbers.size() == 16 && numbers.data() == at &&
           std::accumulate(numbers.begin(), numbers.end(), 0) == 16 * 7;
  };
  auto numbers = filled();
  auto const* const at = numbers.data();
  CHECK(failing_new::fails(0, [&] { numbers.resize(1000); }));
  CHECK(unchanged(numbers, at));
  CHECK(failing_new::fails(0, [&] { numbers.grow(1000); }));
  CHECK(unchanged(numbers, at));
  CHECK(failing_new::fails(0, [&] { numbers.push_back(1); }));
  CHECK(unchanged(numbers, at));
  CHECK(failing_new::fails(0, [&] { numbers.assign(1000, 1); }));
  CHECK(unchanged(numbers, at));
}

TEST_CASE_TEMPLATE("buffer: a size beyond all memory is an error, never a wrapped product", Value,
                   char, int, double) {
  constexpr auto most = std::numeric_limits<std::size_t>::max();
  buffer<Value> values(3);
  for (auto const size : {most, most - 1, most - 100, most / sizeof(Value), most / 2 + 1,
                          most / 2 / sizeof(Value) + 1}) {
    CAPTURE(size);
    failing_new::largest = 0;
    CHECK_THROWS_AS(values.resize(size), std::bad_alloc);
    CHECK_THROWS_AS(values.grow(size), std::bad_alloc);
    CHECK(values.size() == 3);
    // Nor is operator new asked: that of libstdc++ 12 rounds up to the alignment, and wraps.
    CHECK(failing_new::largest < 10'000);
  }
}
