#pragma once

#include <inlay/batch/batch.hpp>
#include <inlay/batch/batch_source.hpp>
#include <inlay/batch/gzip_bytes.hpp>
#include <inlay/batch/line_reader.hpp>
#include <inlay/batch/slab_list.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/views.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// One line of a MovieLens ratings file.
struct movielens_rating {
  std::uint32_t user = 0;      ///< its number in the file
  std::uint32_t film = 0;      ///< its number in the file
  float rating = 0;            ///< stars, 0.5 to 5
  std::int64_t timestamp = 0;  ///< seconds since 1970
};

namespace detail {

inline constexpr std::size_t movielens_columns = 4;
inline constexpr std::string_view movielens_header = "userid,movieid,rating,timestamp";

/// True when the whole text is one number of this type.
template <class Number>
[[nodiscard]] bool parse_number(std::string_view text, Number& value) {
  auto const* const end = text.data() + text.size();
  auto const [stop, fault] = std::from_chars(text.data(), end, value);
  return fault == std::errc{} && stop == end && !text.empty();
}

[[nodiscard]] inline bool is_movielens_header(std::string_view line) {
  auto const lower = [](char letter) {
    return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
  };
  return std::equal(line.begin(), line.end(), movielens_header.begin(), movielens_header.end(),
                    [&](char is, char wanted) { return lower(is) == wanted; });
}

/// Fills `into` from a line, or returns what is wrong with it.
[[nodiscard]] inline std::string take_movielens_line(std::string_view line,
                                                     movielens_rating& into) {
  std::array<std::string_view, movielens_columns> columns;
  std::size_t count = 0;
  for (auto rest = line;; ++count) {
    auto const comma = rest.find(',');
    if (count < movielens_columns) {
      columns[count] = rest.substr(0, comma);
    }
    if (comma == std::string_view::npos) {
      break;
    }
    rest.remove_prefix(comma + 1);
  }
  if (++count != movielens_columns) {
    return "has " + std::to_string(count) + " columns separated by commas where " +
           std::to_string(movielens_columns) + " belong";
  }
  if (!parse_number(columns[0], into.user)) {
    return "has the user " + quoted(columns[0]) + ", which is not a number of 32 bits";
  }
  if (!parse_number(columns[1], into.film)) {
    return "has the film " + quoted(columns[1]) + ", which is not a number of 32 bits";
  }
  if (!parse_number(columns[2], into.rating) || !(into.rating >= 0.5F && into.rating <= 5.0F)) {
    return "has the rating " + quoted(columns[2]) + ", which is not a number from 0.5 to 5";
  }
  if (!parse_number(columns[3], into.timestamp)) {
    return "has the timestamp " + quoted(columns[3]) + ", which is not an integer";
  }
  return {};
}

}  // namespace detail

/// Ratings of MovieLens: a header, then user, film, rating and timestamp, comma separated; plain
/// text or compressed by gzip, as in `criteo_tsv`.
///
/// Two fields, user and film, one id each, no dense features; a rating of 4 or more counts as
/// clicked. Errors name file and line as in `criteo_tsv`; another header is always an error.
class movielens_csv {
 public:
  static constexpr float least_liked = 4.0F;  ///< stars from which a film counts as clicked

  /// Reads all of the file. Throws for a file that can't be read, and for a bad line unless those
  /// are skipped.
  explicit movielens_csv(std::string path, bad_lines on_bad = bad_lines::reject,
                         gzip_support gzip = {}) {
    line_reader lines(std::move(path), gzip);
    auto const header = lines.next();
    if (!header) {
      fail("'" + lines.path() + "' is empty");
    }
    if (!detail::is_movielens_header(*header)) {
      lines.reject("is " + detail::quoted(*header) +
                   " where the header userId,movieId,rating,timestamp belongs");
    }
    movielens_rating rating;
    skipped_ = take_lines(lines, on_bad, [&](std::string_view line) {
      auto fault = detail::take_movielens_line(line, rating);
      if (fault.empty()) {
        ratings_.push_back(rating);
      }
      return fault;
    });
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return ratings_.size(); }
  [[nodiscard]] std::size_t fields() const noexcept { return 2; }
  [[nodiscard]] std::size_t dense_width() const noexcept { return 0; }

  /// One id a bag. Samples must be below size().
  void read(span<std::uint64_t const> samples, batch& into) const {
    auto const rows = samples.size();
    into.reset({rows, fields(), dense_width()});
    for (std::size_t at = 0; at < rows; ++at) {
      expects(samples[at] < size(), "a sample beyond the end of the MovieLens file was asked for");
      auto const& one = ratings_[samples[at]];
      into.ids()[at] = one.user;
      into.ids()[rows + at] = one.film;
      into.labels()[at] = one.rating >= least_liked ? 1.0F : 0.0F;
    }
  }

  /// Seconds since 1970.
  [[nodiscard]] std::int64_t timestamp(std::uint64_t sample) const noexcept {
    return ratings_[sample].timestamp;
  }
  /// A sample's line.
  [[nodiscard]] movielens_rating const& rating(std::uint64_t sample) const noexcept {
    return ratings_[sample];
  }
  /// Bad lines that were left out.
  [[nodiscard]] std::uint64_t skipped_lines() const noexcept { return skipped_; }

 private:
  slab_list<movielens_rating> ratings_;
  std::uint64_t skipped_ = 0;
};
static_assert(batch_source<movielens_csv> && timed_source<movielens_csv>);

}  // namespace inlay::inline INLAY_ABI
