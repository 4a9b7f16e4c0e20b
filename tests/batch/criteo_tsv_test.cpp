#include <inlay/batch/criteo_tsv.hpp>

#include "files.hpp"

#include <inlay/batch/synthetic.hpp>
#include <inlay/testing/source_laws.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using inlay::bad_lines;
using inlay::criteo_row;
using inlay::criteo_tsv;

namespace {

using columns = std::array<std::string, 40>;

columns plain_columns() {
  columns result;
  result[0] = "1";
  for (std::size_t number = 1; number <= 13; ++number) {
    result[number] = std::to_string(number);
  }
  for (std::size_t field = 1; field <= 26; ++field) {
    result[13 + field] = "000000" + std::to_string(10 + field);
  }
  return result;
}

std::string joined(columns const& all) {
  std::string line = all[0];
  for (std::size_t at = 1; at < all.size(); ++at) {
    line += "\t" + all[at];
  }
  return line;
}

std::string line_with(std::size_t column, std::string const& text) {
  auto all = plain_columns();
  all[column] = text;
  return joined(all);
}

/// A row as Criteo's own files have it.
std::string printed(criteo_row const& row, bool upper) {
  std::string line = row.label() > 0 ? "1" : "0";
  for (auto const integer : row.integers) {
    line += "\t" + (integer == inlay::missing_integer ? "" : std::to_string(integer));
  }
  for (std::size_t field = 0; field < 26; ++field) {
    std::array<char, 9> hex{};
    std::snprintf(hex.data(), hex.size(), upper ? "%08X" : "%08x", row.categories[field]);
    line += "\t";
    line += row.category(field) == inlay::missing_category ? "" : hex.data();
  }
  return line;
}

/// What the reader says about a bad second line, less the name of the file.
std::string complaint(std::string const& line) {
  temporary_file const file(joined(plain_columns()) + "\n" + line + "\n");
  auto const sentence = sentence_of([&] { criteo_tsv const source(file.path()); });
  auto const start = "line 2 of '" + file.path() + "' ";
  REQUIRE(sentence.substr(0, start.size()) == start);

  criteo_tsv const source(file.path(), bad_lines::skip);
  CHECK(source.skipped_lines() == 1);
  CHECK(source.size() == 1);
  return sentence.substr(start.size());
}

}  // namespace

TEST_CASE("criteo: a line becomes a label, integers and categories") {
  temporary_file const file(joined(plain_columns()) + "\n" + line_with(0, "0") + "\n");
  criteo_tsv const source(file.path());
  REQUIRE(source.size() == 2);
  CHECK(source.fields() == 26);
  CHECK(source.dense_width() == 13);
  CHECK(source.skipped_lines() == 0);

  inlay::batch content;
  std::vector<std::uint64_t> const samples{1, 0};
  source.read(samples, content);
  auto const view = std::as_const(content).view();
  check(view);
  CHECK(view.labels[0] == 0);
  CHECK(view.labels[1] == 1);
  CHECK(view.ids[view.bag(0, 0)] == 0x11);
  CHECK(view.ids[view.bag(25, 1)] == 0x36);
  CHECK(view.dense.row(0)[0] == doctest::Approx(std::log(2.0)));
  CHECK(view.dense.row(1)[12] == doctest::Approx(std::log(14.0)));
}

TEST_CASE("criteo: a missing category is an id of its own") {
  temporary_file const file(line_with(14, "") + "\n" + line_with(39, "") + "\n" +
                            line_with(14, "0") + "\n" + line_with(14, "ffffffff") + "\n");
  criteo_tsv const source(file.path());
  CHECK(source.row(0).category(0) == inlay::missing_category);
  CHECK(source.row(1).category(25) == inlay::missing_category);
  CHECK(source.row(2).category(0) == 0);
  CHECK(source.row(3).category(0) == 0xffffffff);
  CHECK(inlay::missing_category > 0xffffffff);
  CHECK(inlay::missing_category < inlay::raw_id{1} << 48U);
}

TEST_CASE("criteo: integers become signed logarithms, a missing one 0") {
  temporary_file const file(line_with(2, "-2") + "\n" + line_with(2, "") + "\n" +
                            line_with(2, "2147483647") + "\n" + line_with(2, "-2147483647") + "\n");
  criteo_tsv const source(file.path());
  CHECK(source.row(0).integers[1] == -2);
  CHECK(source.row(1).integers[1] == inlay::missing_integer);
  CHECK(source.row(2).integers[1] == 2147483647);
  CHECK(source.row(3).integers[1] == -2147483647);
  CHECK(inlay::log_feature(-2) == doctest::Approx(-std::log(3.0)));
  CHECK(inlay::log_feature(0) == 0);
  CHECK(inlay::log_feature(inlay::missing_integer) == 0);
  CHECK(std::isfinite(inlay::log_feature(-2147483647)));
  CHECK(inlay::log_feature(-3) < inlay::log_feature(-2));
}

TEST_CASE("criteo: CRLF, no end at the end and fields missing everywhere are legal") {
  columns empty;
  empty[0] = "1";
  temporary_file const file(joined(empty) + "\r\n" + joined(empty) + "\r\n" + joined(empty));
  criteo_tsv const source(file.path());
  REQUIRE(source.size() == 3);
  for (std::uint64_t sample = 0; sample < 3; ++sample) {
    CHECK(source.row(sample).label() == 1);
    CHECK(source.row(sample).integers[12] == inlay::missing_integer);
    CHECK(source.row(sample).category(25) == inlay::missing_category);
  }
  inlay::check_source_laws(source);
}

TEST_CASE("criteo: bad lines are named, or counted and skipped") {
  CHECK(complaint("") == "has 1 columns separated by tabs where 40 belong");
  CHECK(complaint(joined(plain_columns()) + "\t") ==
        "has 41 columns separated by tabs where 40 belong");
  auto const whole = joined(plain_columns());
  CHECK(complaint(whole.substr(0, whole.rfind('\t'))) ==
        "has 39 columns separated by tabs where 40 belong");
  CHECK(complaint(line_with(0, "2")) == "has the label '2', which is neither 0 nor 1");
  CHECK(complaint(line_with(0, "")) == "has the label '', which is neither 0 nor 1");
  CHECK(complaint(line_with(0, "10")) == "has the label '10', which is neither 0 nor 1");
  for (auto const* const bad : {"1.5", "x", "-", "--1", "+1", " 1", "1 ", "2147483648",
                                "-2147483648", "99999999999999999999999"}) {
    CHECK(complaint(line_with(3, bad)) ==
          "has '" + std::string(bad) + "' in I3, which is not an integer of 32 bits");
  }
  for (auto const* const bad : {"0000000g", "123456789", "0x1", "-1", "1 ", "@0000000", "`0000000",
                                "/0000000", ":0000000", "G0000000", "abcdef0 "}) {
    CHECK(complaint(line_with(39, bad)) ==
          "has '" + std::string(bad) + "' in C26, which is not a number of up to 8 hex digits");
  }
  CHECK(complaint(line_with(14, "\x10\x11\x12\x13\x14\x15\x16\x17")) ==
        "has '" + std::string(8, '?') + "' in C1, which is not a number of up to 8 hex digits");
}

TEST_CASE("criteo: the first bad column is the one that is named") {
  auto all = plain_columns();
  all[5] = "five";
  all[20] = "twenty";
  CHECK(complaint(joined(all)) == "has 'five' in I5, which is not an integer of 32 bits");
}

TEST_CASE("criteo: an empty or missing file, a directory and a file of bad lines only are errors") {
  auto const opening = [](std::string const& path, bad_lines on_bad) {
    return sentence_of([&] { criteo_tsv const source(path, on_bad); });
  };
  temporary_file const empty("");
  CHECK(opening(empty.path(), bad_lines::reject) == "'" + empty.path() + "' holds no samples");
  CHECK(opening(empty.path(), bad_lines::skip) == "'" + empty.path() + "' holds no samples");
  temporary_file const rubbish("a\nb\nc\n");
  CHECK(opening(rubbish.path(), bad_lines::skip) ==
        "'" + rubbish.path() + "' holds no samples: all 3 lines are bad");
  CHECK(opening("/is/not/there", bad_lines::skip) ==
        "'/is/not/there' can't be opened: No such file or directory");
  auto const folder = std::filesystem::temp_directory_path().string();
  CHECK(opening(folder, bad_lines::skip) == "'" + folder + "' can't be read: Is a directory");
}

TEST_CASE("criteo: a sample beyond the end is refused") {
  temporary_file const file(joined(plain_columns()));
  criteo_tsv const source(file.path());
  inlay::batch content;
  std::vector<std::uint64_t> const samples{1};
  CHECK(sentence_of([&] { source.read(samples, content); }) ==
        "a sample beyond the end of the Criteo file was asked for");
}

TEST_CASE("criteo: what is written is read again, whatever the rows") {
  auto const seed = fresh_seed("criteo round trip");
  std::mt19937_64 random(seed);
  auto const chance = [&](unsigned in) { return random() % in == 0; };
  std::vector<criteo_row> rows(2000);
  std::string content;
  for (auto& row : rows) {
    row.flags = chance(3) ? criteo_row::clicked : 0;
    for (auto& integer : row.integers) {
      auto const bits = static_cast<std::int32_t>(random() >> 32U) >> (random() % 32);
      integer = chance(4) ? inlay::missing_integer : bits;
    }
    for (std::size_t field = 0; field < 26; ++field) {
      row.categories[field] = static_cast<std::uint32_t>(random() >> (random() % 33 + 31));
      if (chance(4)) {
        row.categories[field] = 0;
        row.set_missing(field);
      }
    }
    content += printed(row, chance(2)) + (chance(2) ? "\r\n" : "\n");
  }
  temporary_file const file(content);
  criteo_tsv const source(file.path());
  REQUIRE(source.size() == rows.size());
  bool same = true;
  for (std::size_t at = 0; at < rows.size(); ++at) {
    auto const& read = source.row(at);
    same = same && read.flags == rows[at].flags && read.integers == rows[at].integers &&
           read.categories == rows[at].categories;
  }
  CHECK(same);
  inlay::check_source_laws(source, seed);
}

TEST_CASE("criteo: synthetic rows written to a file give the batches of the generator") {
  inlay::synthetic const generator{{.rows = 500}};
  std::string content;
  std::vector<std::uint64_t> samples;
  for (std::uint64_t sample = 0; sample < generator.size(); ++sample) {
    content += printed(generator.row(sample), false) + "\n";
    samples.push_back(sample);
  }
  temporary_file const file(content);
  criteo_tsv const source(file.path());
  inlay::batch from_file;
  inlay::batch generated;
  source.read(samples, from_file);
  generator.read(samples, generated);
  bool same = true;
  for (std::size_t row = 0; row < samples.size(); ++row) {
    same = same && inlay::detail::same_row(from_file.view(), row, generated.view(), row);
  }
  CHECK(same);
}

TEST_CASE("criteo: no mutation of a file crashes the reader or gets past its count") {
  auto const seed = fresh_seed("criteo mutations");
  std::mt19937_64 random(seed);
  auto const line = joined(plain_columns()) + "\n";
  std::string const original = line + line_with(14, "") + "\r\n" + line_with(3, "-7") + "\n" + line;
  for (int round = 0; round < 1500; ++round) {
    auto content = original;
    for (auto changes = random() % 6 + 1; changes > 0 && !content.empty(); --changes) {
      auto const at = random() % content.size();
      auto const letter =
          random() % 3 == 0 ? "\t\n\r0-fF"[random() % 7] : static_cast<char>(random() % 256);
      switch (random() % 4) {
      case 0:
        content[at] = letter;
        break;
      case 1:
        content.insert(at, 1, letter);
        break;
      case 2:
        content.erase(at, random() % 20);
        break;
      default:
        content.resize(at);
        break;
      }
    }
    temporary_file const file(content);
    auto const sentence = sentence_of([&] {
      criteo_tsv const source(file.path(), bad_lines::skip);
      inlay::line_reader lines(file.path());
      std::uint64_t count = 0;
      while (lines.next()) {
        ++count;
      }
      CHECK(source.size() + source.skipped_lines() == count);
      auto const rejected = sentence_of([&] { criteo_tsv const strict(file.path()); });
      CHECK(rejected.empty() == (source.skipped_lines() == 0));
    });
    CHECK((sentence.empty() || sentence.find("holds no samples") != std::string::npos ||
           content.starts_with("\x1f\x8b")));
  }
}

TEST_CASE("criteo: the real file has 1,000 rows, 21 clicks and 5,537 keys") {
  auto const path = data_file("criteo_1tb_day0_1k.tsv");
  if (path.empty()) {
    return;
  }
  criteo_tsv const source(path);
  CHECK(source.size() == 1000);
  std::size_t clicks = 0;
  std::set<std::pair<std::size_t, inlay::raw_id>> keys;
  for (std::uint64_t sample = 0; sample < source.size(); ++sample) {
    clicks += source.row(sample).label() > 0 ? 1U : 0U;
    for (std::size_t field = 0; field < source.fields(); ++field) {
      keys.emplace(field, source.row(sample).category(field));
    }
  }
  CHECK(clicks == 21);
  CHECK(keys.size() == 5537);
  inlay::check_source_laws(source);
}
