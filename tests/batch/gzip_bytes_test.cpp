#include <inlay/batch/gzip_bytes.hpp>

#include "files.hpp"

#include <inlay/batch/criteo_tsv.hpp>
#include <inlay/testing/source_laws.hpp>

#include <doctest/doctest.h>

#if INLAY_HAS_ZLIB

#include <zlib.h>

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

/// One gzip member that holds `content`.
std::string packed(std::string_view content, int level = 6) {
  z_stream state = {};
  REQUIRE(deflateInit2(&state, level, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  std::string result(deflateBound(&state, content.size()), '\0');
  auto text = std::string(content);
  state.next_in = reinterpret_cast<Bytef*>(text.data());
  state.avail_in = static_cast<uInt>(text.size());
  state.next_out = reinterpret_cast<Bytef*>(result.data());
  state.avail_out = static_cast<uInt>(result.size());
  REQUIRE(deflate(&state, Z_FINISH) == Z_STREAM_END);
  result.resize(state.total_out);
  deflateEnd(&state);
  return result;
}

/// What the stream of a file gives, read in pieces of this size.
std::string all_bytes(std::string const& path, std::size_t piece = 1000) {
  auto const stream = inlay::open_bytes(path);
  std::string result;
  std::string part(piece, '\0');
  while (auto const count = stream->read({part.data(), part.size()})) {
    result.append(part, 0, count);
    CHECK((count == piece || stream->read({part.data(), part.size()}) == 0));
  }
  return result;
}

std::string unpacked(std::string const& file_content, std::size_t piece = 1000) {
  temporary_file const file(file_content);
  return all_bytes(file.path(), piece);
}

/// What is said of a file with this content, less its name.
std::string complaint(std::string const& content) {
  temporary_file const file(content);
  auto const sentence = sentence_of([&] { static_cast<void>(all_bytes(file.path())); });
  auto const name = "'" + file.path() + "' ";
  REQUIRE(sentence.substr(0, name.size()) == name);
  return sentence.substr(name.size());
}

std::string text_of(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A few lines of Criteo's format, each other than the last.
std::string some_lines(int count) {
  std::string content;
  for (int line = 0; line < count; ++line) {
    content += std::to_string(line % 2);
    for (int column = 1; column < 40; ++column) {
      content += "\t" + std::to_string(column * 7919 * (line + 1) % 9973);
    }
    content += "\n";
  }
  return content;
}

bool same_rows(inlay::criteo_tsv const& one, inlay::criteo_tsv const& other) {
  bool same = one.size() == other.size();
  for (std::uint64_t sample = 0; same && sample < one.size(); ++sample) {
    auto const& a = one.row(sample);
    auto const& b = other.row(sample);
    same = a.flags == b.flags && a.integers == b.integers && a.categories == b.categories;
  }
  return same;
}

}  // namespace

TEST_CASE("gzip: what was packed is read again, in pieces of any size") {
  auto const seed = fresh_seed("gzip pieces");
  std::mt19937_64 random(seed);
  std::string content;
  while (content.size() < 700'000) {  // more than one piece of the file, though half of it packs
    content += random() % 2 == 0 ? std::string(random() % 1000, static_cast<char>(random() % 256))
                                 : std::to_string(random());
  }
  for (auto const level : {0, 1, 9}) {
    auto const file = packed(content, level);
    for (auto const piece :
         {std::size_t{997}, std::size_t{65536}, content.size(), 2 * content.size()}) {
      CHECK((unpacked(file, piece) == content));
    }
  }
  CHECK(unpacked(packed("some"), 1) == "some");
}

TEST_CASE("gzip: the content decides and not the name; plain text is left as it is") {
  CHECK(unpacked("plain") == "plain");
  CHECK(unpacked("\x1f") == "\x1f");
  CHECK(unpacked("\x1f\x1f\x8b") == "\x1f\x1f\x8b");
  CHECK(unpacked("").empty());
  CHECK(unpacked("p", 1) == "p");
}

TEST_CASE("gzip: members on end are one file, empty ones too") {
  CHECK(unpacked(packed("")).empty());
  CHECK(unpacked(packed("") + packed("")).empty());
  CHECK(unpacked(packed("one, ") + packed("") + packed("two")) == "one, two");
  std::string content;
  std::string file;
  for (int member = 0; member < 3000; ++member) {  // some straddle two pieces of the file
    content += "member " + std::to_string(member * member) + "\n";
    file += packed("member " + std::to_string(member * member) + "\n");
  }
  CHECK((unpacked(file) == content));
}

TEST_CASE("gzip: a file that is cut short is an error, wherever that is") {
  auto const content = some_lines(3);
  auto const file = packed(content);
  for (std::size_t size = 2; size < file.size(); ++size) {
    auto const said = complaint(file.substr(0, size));
    CHECK(said ==
          "is cut short: its compressed data should go on after byte " + std::to_string(size));
    CHECK(complaint(file + file.substr(0, size)) ==
          "is cut short: its compressed data should go on after byte " +
              std::to_string(file.size() + size));
    temporary_file const short_file(file.substr(0, size));
    for (auto const on_bad : {inlay::bad_lines::reject, inlay::bad_lines::skip}) {
      CHECK(sentence_of([&] {
              inlay::criteo_tsv const source(short_file.path(), on_bad);
            }).ends_with(said));
    }
  }
  for (auto const size : {0U, 1U}) {
    temporary_file const short_file(file.substr(0, size));
    CHECK(!sentence_of([&] { inlay::criteo_tsv const source(short_file.path()); }).empty());
  }
}

TEST_CASE("gzip: whatever stands behind the last member is an error") {
  auto const file = packed("some");
  for (auto const* const rest : {"x", "\n", "some lines\n"}) {
    CHECK(complaint(file + rest) ==
          "holds something else behind what gzip has compressed, from byte " +
              std::to_string(file.size()) + " on");
  }
  CHECK(complaint(file + std::string(512, '\0')).starts_with("holds something else behind"));
  CHECK(complaint(file + "\x1f\x1f\x1f").ends_with(": incorrect header check"));
}

TEST_CASE("gzip: no flipped bit crashes, and none gives other rows") {
  auto const content = some_lines(4);
  temporary_file const plain(content);
  inlay::criteo_tsv const right(plain.path());
  auto const half = content.find('\n', content.size() / 2) + 1;
  std::size_t harmless = 0;
  for (auto const& file :
       {packed(content), packed(content.substr(0, half), 9) + packed(content.substr(half), 0)}) {
    for (std::size_t bit = 0; bit < 8 * file.size(); ++bit) {
      CAPTURE(bit);
      auto flipped = file;
      flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ (1 << (bit % 8)));
      temporary_file const broken(flipped);
      for (auto const on_bad : {inlay::bad_lines::reject, inlay::bad_lines::skip}) {
        auto const sentence = sentence_of([&] {
          inlay::criteo_tsv const source(broken.path(), on_bad);
          CHECK(same_rows(source, right));
          ++harmless;
        });
        CHECK((sentence.empty() || sentence.find(broken.path()) != std::string::npos));
      }
    }
  }
  // A header's time, flags of its text and system: 7 bytes of a member's 10 mean nothing here.
  CHECK(harmless > 0);
  CHECK(harmless <= std::size_t{2} * 3 * 8 * 7);
}

TEST_CASE("gzip: random changes of a file end in a sentence or in the same rows") {
  auto const seed = fresh_seed("gzip mutations");
  std::mt19937_64 random(seed);
  auto const content = some_lines(20);
  temporary_file const plain(content);
  inlay::criteo_tsv const right(plain.path());
  auto const original = packed(content) + packed("");
  for (int round = 0; round < 1500; ++round) {
    auto file = original;
    for (auto changes = random() % 4 + 1; changes > 0 && file.size() > 2; --changes) {
      auto const at = 2 + random() % (file.size() - 2);
      switch (random() % 3) {
      case 0:
        file[at] = static_cast<char>(random() % 256);
        break;
      case 1:
        file.insert(at, 1, static_cast<char>(random() % 256));
        break;
      default:
        file.erase(at, random() % 20);
        break;
      }
    }
    temporary_file const broken(file);
    static_cast<void>(sentence_of([&] {
      inlay::criteo_tsv const source(broken.path(), inlay::bad_lines::skip);
      CHECK(same_rows(source, right));
    }));
  }
}

TEST_CASE("gzip: an empty compressed file holds no samples") {
  temporary_file const file(packed(""));
  CHECK(sentence_of([&] { inlay::criteo_tsv const source(file.path()); }) ==
        "'" + file.path() + "' holds no samples");
}

TEST_CASE("gzip: bad lines are named by their number in the text") {
  temporary_file const file(packed(some_lines(2) + "rubbish\n"));
  CHECK(sentence_of([&] { inlay::criteo_tsv const source(file.path()); }) ==
        "line 3 of '" + file.path() + "' has 1 columns separated by tabs where 40 belong");
  inlay::criteo_tsv const source(file.path(), inlay::bad_lines::skip);
  CHECK(source.size() == 2);
  CHECK(source.skipped_lines() == 1);
}

TEST_CASE("gzip: Criteo's real file, compressed, gives the rows of the plain one") {
  auto const path = data_file("criteo_1tb_day0_1k.tsv");
  if (path.empty()) {
    return;
  }
  auto const content = text_of(path);
  temporary_file const file(packed(content));
  inlay::criteo_tsv const source(file.path());
  CHECK(source.size() == 1000);
  CHECK(same_rows(source, inlay::criteo_tsv(path)));
  inlay::check_source_laws(source);
  auto const third = content.find('\n', content.size() / 3) - 5;  // a line in two members
  temporary_file const members(packed(content.substr(0, third)) + packed(content.substr(third)));
  CHECK(same_rows(source, inlay::criteo_tsv(members.path())));
}

#else

TEST_CASE("gzip") { std::cout << "skipped: no zlib\n"; }

#endif
