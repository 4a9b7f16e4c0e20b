#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/views.hpp>

#include <fstream>
#include <string>
#include <type_traits>
#include <vector>

// Plain values behind one another, in the machine's byte order: numpy.fromfile and ndarray.tofile.

/// Writes values and nothing else.
template <class Value>
void write_values(std::string const& path, inlay::span<Value const> values) {
  static_assert(std::is_arithmetic_v<Value>);
  std::ofstream into(path, std::ios::binary);
  into.write(reinterpret_cast<char const*>(values.data()),
             static_cast<std::streamsize>(values.size_bytes()));
  into.close();
  if (!into) inlay::fail("can't write " + path);
}

/// Writes values and nothing else.
template <class Value>
void write_values(std::string const& path, std::vector<Value> const& values) {
  write_values(path, inlay::span<Value const>(values.data(), values.size()));
}

/// Reads all values of a file, which must be `count`.
inline std::vector<float> read_floats(std::string const& path, std::size_t count) {
  std::ifstream from(path, std::ios::binary | std::ios::ate);
  if (!from) inlay::fail("can't read " + path);
  auto const bytes = static_cast<std::size_t>(from.tellg());
  if (bytes != count * sizeof(float)) {
    inlay::fail(path + " has " + std::to_string(bytes) + " bytes, not those of " +
                std::to_string(count) + " floats");
  }
  std::vector<float> values(count);
  from.seekg(0);
  from.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(bytes));
  if (!from) inlay::fail("can't read " + path);
  return values;
}
