#include <inlay/sim/read_trace.hpp>

#include "sim/traces.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

using inlay::read_trace;

namespace {

std::string little_endian(std::uint64_t value, std::size_t bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes; ++at) {
    text += static_cast<char>(value >> (8 * at) & 0xffU);
  }
  return text;
}

/// A record of libCacheSim's oracleGeneral, its other fields full of what must not matter.
std::string oracle_record(std::uint64_t key) {
  return little_endian(0x01020304, 4) + little_endian(key, 8) + little_endian(99, 4) +
         little_endian(~std::uint64_t{0}, 8);
}

/// A file with a name that ends so; removed again.
class trace_file {
 public:
  trace_file(std::string const& ending, std::string const& content)
      : own_(content), path_(own_.path() + ending) {
    std::filesystem::rename(own_.path(), path_);
  }
  trace_file(trace_file const&) = delete;
  trace_file& operator=(trace_file const&) = delete;
  ~trace_file() { std::filesystem::remove(path_); }

  [[nodiscard]] std::string const& path() const { return path_; }

 private:
  temporary_file own_;
  std::string path_;
};

std::vector<std::uint64_t> keys_in(std::string const& ending, std::string const& content) {
  trace_file const file(ending, content);
  auto const trace = read_trace(file.path());
  std::vector<std::uint64_t> keys;
  for (auto const key : trace.keys()) {
    keys.push_back(key.bits);
  }
  return keys;
}

/// What the reader says about a file, less its name.
std::string complaint(std::string const& ending, std::string const& content) {
  trace_file const file(ending, content);
  auto const sentence = sentence_of([&] { (void)read_trace(file.path()); });
  auto const start = "'" + file.path() + "' ";
  REQUIRE(sentence.substr(0, start.size()) == start);
  return sentence.substr(start.size());
}

}  // namespace

TEST_CASE("read_trace: keys of 32 and 64 bits, and libCacheSim's records") {
  std::vector<std::uint64_t> const small{1, 0x80ff7f01, 1, 0};
  std::vector<std::uint64_t> const large{0x0102030405060708, ~std::uint64_t{0}, 0, 5};
  std::string four;
  std::string eight;
  std::string records;
  for (std::size_t at = 0; at < small.size(); ++at) {
    four += little_endian(small[at], 4);
    eight += little_endian(large[at], 8);
    records += oracle_record(large[at]);
  }
  CHECK(keys_in(".u32", four) == small);
  CHECK(keys_in(".u64", eight) == large);
  CHECK(keys_in(".oracleGeneral", records) == large);
  CHECK(keys_in(".oracleGeneral.bin", records) == large);
}

TEST_CASE("read_trace: files longer than one read are read to their end") {
  for (std::size_t const count : {4095U, 4096U, 4097U, 8192U, 20'000U}) {
    std::string content;
    std::vector<std::uint64_t> keys;
    for (std::size_t at = 0; at < count; ++at) {
      keys.push_back(inlay::mix(at));
      content += oracle_record(keys.back());
    }
    CHECK(keys_in(".oracleGeneral", content) == keys);
  }
}

TEST_CASE("read_trace: an empty file is an error that names it") {
  for (std::string const ending : {".u32", ".u64", ".oracleGeneral"}) {
    CHECK(complaint(ending, "") == "is empty: a trace needs at least one request");
  }
}

TEST_CASE("read_trace: a file that ends within a record is an error") {
  CHECK(complaint(".u32", "1234567") ==
        "is cut short: a request takes 4 bytes, and 3 are left behind the last of 1");
  CHECK(complaint(".u64", "1") ==
        "is cut short: a request takes 8 bytes, and 1 are left behind the last of 0");
  CHECK(complaint(".oracleGeneral", oracle_record(7) + oracle_record(8).substr(0, 23)) ==
        "is cut short: a request takes 24 bytes, and 23 are left behind the last of 1");
  std::string long_file(24 * 4096, 'a');
  CHECK(complaint(".oracleGeneral", long_file + "ab") ==
        "is cut short: a request takes 24 bytes, and 2 are left behind the last of 4096");
}

TEST_CASE("read_trace: an ending that nobody knows is an error that lists those known") {
  CHECK(complaint(".csv", "1,2,3") ==
        "ends like no trace that can be read; known are .u32 .u64 .oracleGeneral "
        ".oracleGeneral.bin .keys");
  CHECK(sentence_of([] { (void)read_trace(""); }).starts_with("'' ends like no trace"));
}

TEST_CASE("read_trace: a format whose keys do not lie in its records is an error") {
  trace_file const file(".u32", "12345678");
  for (inlay::trace_format const& format :
       {inlay::trace_format{".u32", 0, 0, 4}, inlay::trace_format{".u32", 4, 0, 8},
        inlay::trace_format{".u32", 4, 0, 0}, inlay::trace_format{".u32", 16, 0, 9}}) {
    CHECK(sentence_of([&] { (void)inlay::read_trace(file.path(), format); }) ==
          "a trace's format needs a key of at most 8 bytes within each record");
  }
}

TEST_CASE("read_trace: what can't be opened or read is an error that says why") {
  auto const missing = std::filesystem::temp_directory_path() / "inlay_no_such_trace.u32";
  CHECK(sentence_of([&] { (void)read_trace(missing.string()); }) ==
        "'" + missing.string() + "' can't be opened: No such file or directory");
  trace_file const file(".u32", "");
  std::filesystem::remove(file.path());
  std::filesystem::create_directory(file.path());
  CHECK(sentence_of([&] { (void)read_trace(file.path()); }) ==
        "'" + file.path() + "' can't be read: Is a directory");
}
