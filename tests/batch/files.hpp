#pragma once

#include <inlay/core/error.hpp>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <random>
#include <string>
#include <string_view>

// What the tests of this folder share: files that vanish, the sentence of an error, seeds that can
// be repeated, the real data.

/// A file with this content that is removed again.
class temporary_file {
 public:
  explicit temporary_file(std::string_view content) : path_(fresh_path()) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  temporary_file(temporary_file const&) = delete;
  temporary_file& operator=(temporary_file const&) = delete;
  ~temporary_file() { std::filesystem::remove(path_); }

  [[nodiscard]] std::string const& path() const { return path_; }

 private:
  [[nodiscard]] static std::string fresh_path() {
    static std::string const run = std::to_string(std::random_device{}());
    static std::atomic<int> count = 0;
    auto const name = "inlay_batch_" + run + "_" + std::to_string(++count);
    return (std::filesystem::temp_directory_path() / name).string();
  }

  std::string path_;
};

/// The sentence of the `inlay::error` that `body` throws; empty when it throws none.
template <class Body>
[[nodiscard]] std::string sentence_of(Body const& body) {
  try {
    body();
  } catch (inlay::error const& failure) {
    return failure.sentence();
  }
  return {};
}

/// A new seed for each run, or that of the environment variable INLAY_SEED; printed, so that a
/// failure can be repeated.
[[nodiscard]] inline std::uint64_t fresh_seed(char const* test) {
  auto const* const given = std::getenv("INLAY_SEED");
  auto const seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::cout << test << ": INLAY_SEED=" << seed << '\n';
  return seed;
}

/// Path of a file of INLAY_DATA; empty, with a line that says so, where it is not there.
[[nodiscard]] inline std::string data_file(std::string const& name) {
  auto const* const folder = std::getenv("INLAY_DATA");
  auto path = folder == nullptr ? std::string() : std::string(folder) + "/" + name;
  if (folder == nullptr || !std::filesystem::exists(path)) {
    std::cout << "skipped: no data\n";
    return {};
  }
  return path;
}
