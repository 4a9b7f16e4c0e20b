#include <inlay/batch/movielens_csv.hpp>

#include "files.hpp"

#include <inlay/testing/source_laws.hpp>

#include <doctest/doctest.h>

#include <filesystem>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

using inlay::bad_lines;
using inlay::movielens_csv;

namespace {

std::string const header = "userId,movieId,rating,timestamp\n";
std::string const good_line = "1,31,2.5,1260759144\n";

/// What the reader says about a bad third line, less the name of the file.
std::string complaint(std::string const& line) {
  temporary_file const file(header + good_line + line + "\n" + good_line);
  auto const sentence = sentence_of([&] { movielens_csv const source(file.path()); });
  auto const start = "line 3 of '" + file.path() + "' ";
  REQUIRE(sentence.substr(0, start.size()) == start);

  movielens_csv const source(file.path(), bad_lines::skip);
  CHECK(source.skipped_lines() == 1);
  CHECK(source.size() == 2);
  return sentence.substr(start.size());
}

}  // namespace

TEST_CASE("movielens: a rating of four or more stars is a click") {
  temporary_file const file(
      "USERID,movieid,Rating,timeStamp\r\n7,31,3.5,5\r\n8,4294967295,4.0,-6\r\n9,0,5,7");
  movielens_csv const source(file.path());
  REQUIRE(source.size() == 3);
  CHECK(source.fields() == 2);
  CHECK(source.dense_width() == 0);
  CHECK(source.timestamp(1) == -6);
  CHECK(source.rating(0).rating == 3.5F);

  inlay::batch content;
  std::vector<std::uint64_t> const samples{2, 1, 0};
  source.read(samples, content);
  auto const view = std::as_const(content).view();
  check(view);
  CHECK(view.labels[0] == 1);
  CHECK(view.labels[1] == 1);
  CHECK(view.labels[2] == 0);
  CHECK(view.ids[view.bag(0, 1)] == 8);
  CHECK(view.ids[view.bag(1, 1)] == 4294967295);
  CHECK(view.ids[view.bag(1, 0)] == 0);
  inlay::check_source_laws(source);
}

TEST_CASE("movielens: malformed lines are named, or counted and skipped") {
  CHECK(complaint("") == "has 1 columns separated by commas where 4 belong");
  CHECK(complaint("1,2,3") == "has 3 columns separated by commas where 4 belong");
  CHECK(complaint("1,2,3,4,") == "has 5 columns separated by commas where 4 belong");
  CHECK(complaint("x,2,3,4") == "has the user 'x', which is not a number of 32 bits");
  CHECK(complaint(",2,3,4") == "has the user '', which is not a number of 32 bits");
  CHECK(complaint("-1,2,3,4") == "has the user '-1', which is not a number of 32 bits");
  CHECK(complaint("4294967296,2,3,4") ==
        "has the user '4294967296', which is not a number of 32 bits");
  CHECK(complaint("1,2.0,3,4") == "has the film '2.0', which is not a number of 32 bits");
  for (auto const* const bad : {"", "0", "5.5", "-3", "nan", "inf", "3x", " 3", "1e300", "0x3"}) {
    CHECK(complaint("1,2," + std::string(bad) + ",4") ==
          "has the rating '" + std::string(bad) + "', which is not a number from 0.5 to 5");
  }
  CHECK(complaint("1,2,3,") == "has the timestamp '', which is not an integer");
  CHECK(complaint("1,2,3,noon") == "has the timestamp 'noon', which is not an integer");
}

TEST_CASE("movielens: a header that is another's is an error even where bad lines are skipped") {
  for (auto const on_bad : {bad_lines::reject, bad_lines::skip}) {
    temporary_file const file("1,31,2.5,1260759144\n");
    CHECK(
        sentence_of([&] { movielens_csv const source(file.path(), on_bad); }) ==
        "line 1 of '" + file.path() +
            "' is '1,31,2.5,1260759144' where the header userId,movieId,rating,timestamp belongs");
  }
}

TEST_CASE("movielens: an empty or missing file, a directory and a header alone are errors") {
  auto const opening = [](std::string const& path) {
    return sentence_of([&] { movielens_csv const source(path, bad_lines::skip); });
  };
  temporary_file const empty("");
  CHECK(opening(empty.path()) == "'" + empty.path() + "' is empty");
  temporary_file const alone(header);
  CHECK(opening(alone.path()) == "'" + alone.path() + "' holds no samples");
  CHECK(opening("/is/not/there") == "'/is/not/there' can't be opened: No such file or directory");
  auto const folder = std::filesystem::temp_directory_path().string();
  CHECK(opening(folder) == "'" + folder + "' can't be read: Is a directory");
}

TEST_CASE("movielens: no mutation of a file crashes the reader or gets past its count") {
  auto const seed = fresh_seed("movielens mutations");
  std::mt19937_64 random(seed);
  for (int round = 0; round < 1000; ++round) {
    std::string body = good_line + "2,3,4.5,9\r\n" + good_line;
    for (auto changes = random() % 4 + 1; changes > 0; --changes) {
      body[random() % body.size()] =
          random() % 3 == 0 ? ",\n\r.-"[random() % 5] : static_cast<char>(random() % 256);
    }
    temporary_file const file(header + body);
    auto const sentence = sentence_of([&] {
      movielens_csv const source(file.path(), bad_lines::skip);
      inlay::line_reader lines(file.path());
      std::uint64_t count = 0;
      while (lines.next()) {
        ++count;
      }
      CHECK(source.size() + source.skipped_lines() + 1 == count);
    });
    CHECK((sentence.empty() || sentence.find("holds no samples") != std::string::npos));
  }
}

TEST_CASE("movielens: the real file has 100,836 ratings of which 48.2 % are clicks") {
  auto const path = data_file("movielens_small_ratings.csv");
  if (path.empty()) {
    return;
  }
  movielens_csv const source(path);
  CHECK(source.size() == 100'836);
  std::size_t clicks = 0;
  std::set<std::uint32_t> users;
  std::set<std::uint32_t> films;
  for (std::uint64_t sample = 0; sample < source.size(); ++sample) {
    clicks += source.rating(sample).rating >= movielens_csv::least_liked ? 1U : 0U;
    users.insert(source.rating(sample).user);
    films.insert(source.rating(sample).film);
  }
  CHECK(clicks == 48'580);
  CHECK(users.size() == 610);
  CHECK(films.size() == 9'724);
  inlay::check_source_laws(source);
}
