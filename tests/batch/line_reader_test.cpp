#include <inlay/batch/line_reader.hpp>

#include "files.hpp"

#include <doctest/doctest.h>

#include <filesystem>
#include <random>
#include <string>
#include <vector>

namespace {

std::vector<std::string> lines_of(std::string_view content) {
  temporary_file const file(content);
  inlay::line_reader reader(file.path());
  std::vector<std::string> lines;
  while (auto const line = reader.next()) {
    lines.emplace_back(*line);
    CHECK(reader.number() == lines.size());
  }
  return lines;
}

std::string opening(std::string const& path) {
  return sentence_of([&] { inlay::line_reader const reader(path); });
}

}  // namespace

TEST_CASE("line reader: LF and CRLF end a line, the last one may lack its end") {
  using lines = std::vector<std::string>;
  CHECK(lines_of("one\ntwo\n") == lines{"one", "two"});
  CHECK(lines_of("one\r\ntwo\r\n") == lines{"one", "two"});
  CHECK(lines_of("one\ntwo") == lines{"one", "two"});
  CHECK(lines_of("one\r\ntwo\r") == lines{"one", "two"});
  CHECK(lines_of("\n\r\n\n") == lines{"", "", ""});
  CHECK(lines_of("").empty());
  CHECK(lines_of("a\rb\n") == lines{"a\rb"});
}

TEST_CASE("line reader: lines that cross its pieces stay whole") {
  auto const seed = fresh_seed("line reader");
  std::mt19937_64 random(seed);
  std::vector<std::string> written;
  std::string content;
  while (content.size() < 3 * inlay::line_reader::longest_line) {
    auto const length = random() % 8 == 0 ? random() % 600'000 : random() % 300;
    written.emplace_back(length, static_cast<char>('a' + random() % 26));
    content += written.back() + "\n";
  }
  CHECK((lines_of(content) == written));
  content.pop_back();
  CHECK((lines_of(content) == written));
}

TEST_CASE("line reader: a missing file and a directory are named") {
  auto const folder = std::filesystem::temp_directory_path().string();
  CHECK(opening(folder + "/is/not/there") ==
        "'" + folder + "/is/not/there' can't be opened: No such file or directory");
  CHECK(opening(folder) == "'" + folder + "' can't be read: Is a directory");
}

TEST_CASE("line reader: a line without end is refused before memory runs out") {
  std::string const longest(inlay::line_reader::longest_line - 1, 'x');
  CHECK(lines_of("short\n" + longest + "\n").size() == 2);
  temporary_file const file("short\n" + longest + "xx\n");
  inlay::line_reader reader(file.path());
  CHECK(reader.next() == "short");
  CHECK(sentence_of([&] { static_cast<void>(reader.next()); }) ==
        "line 2 of '" + file.path() + "' is longer than 4 MiB; this is not a text file");
}

TEST_CASE("line reader: text in an error is short and harmless") {
  CHECK(inlay::detail::quoted("plain") == "'plain'");
  CHECK(inlay::detail::quoted("a\tb\x1b[1m\xff") == "'a?b?[1m?'");
  CHECK(inlay::detail::quoted(std::string(41, 'x')) == "'" + std::string(40, 'x') + "...'");
}
