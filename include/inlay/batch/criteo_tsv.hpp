#pragma once

#include <inlay/batch/batch.hpp>
#include <inlay/batch/batch_source.hpp>
#include <inlay/batch/criteo_row.hpp>
#include <inlay/batch/gzip_bytes.hpp>
#include <inlay/batch/line_reader.hpp>
#include <inlay/batch/slab_list.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/views.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace inlay::inline INLAY_ABI {

namespace detail {

/// Value of each byte as a hex digit, 16 where it is none.
inline constexpr auto hex_values = [] {
  std::array<std::uint8_t, 256> values{};
  values.fill(16);
  for (std::uint8_t digit = 0; digit < 16; ++digit) {
    values[static_cast<unsigned char>("0123456789abcdef"[digit])] = digit;
    values[static_cast<unsigned char>("0123456789ABCDEF"[digit])] = digit;
  }
  return values;
}();

/// Eight hex digits at once, or false where one of them is none. Twice as fast as digit by digit,
/// and nearly all columns of a line are of this kind.
[[nodiscard]] inline bool parse_eight_hex(char const* text, std::uint32_t& value) {
  constexpr std::uint64_t each = 0x0101010101010101U;
  std::array<char, 8> bytes;
  std::copy_n(text, bytes.size(), bytes.begin());
  if constexpr (std::endian::native == std::endian::big) {
    std::reverse(bytes.begin(), bytes.end());
  }
  auto const letters = std::bit_cast<std::uint64_t>(bytes);  // the first in the lowest byte
  auto const beyond_nine = (letters >> 6U) & each;
  auto digits = ((letters & (each * 15)) + beyond_nine * 9) & (each * 15);
  // Written out again, in lower case, they must be what was there.
  auto const again = digits + each * '0' + ((digits + each * 6) >> 4U & each) * ('a' - '0' - 10);
  if (again != (letters | beyond_nine << 5U)) {
    return false;
  }
  digits = (digits << 4U | digits >> 8U) & 0x00ff00ff00ff00ffU;
  digits = (digits << 8U | digits >> 16U) & 0x0000ffff0000ffffU;
  value = static_cast<std::uint32_t>(digits << 16U | digits >> 32U);
  return true;
}

/// A place in a line of the Criteo format. Each function takes one column up to the tab or the end
/// of the line, and returns false where the column is not what it should be.
struct criteo_cursor {
  char const* at;
  char const* end;

  explicit criteo_cursor(std::string_view text) : at(text.data()), end(at + text.size()) {}

  [[nodiscard]] bool column_ended() const { return at == end || *at == '\t'; }

  [[nodiscard]] bool tab() {
    bool const there = at != end && *at == '\t';
    at += there ? 1 : 0;
    return there;
  }

  [[nodiscard]] bool label(criteo_row& row) {
    if (at == end || (*at != '0' && *at != '1')) {
      return false;
    }
    row.flags |= *at++ == '1' ? criteo_row::clicked : 0U;
    return column_ended();
  }

  [[nodiscard]] bool integer(std::int32_t& value) {
    if (column_ended()) {
      value = missing_integer;
      return true;
    }
    bool const negative = *at == '-';
    at += negative ? 1 : 0;
    auto const* const first = at;
    std::int64_t sum = 0;
    for (; at != end && *at >= '0' && *at <= '9' && sum <= -std::int64_t{missing_integer}; ++at) {
      sum = sum * 10 + (*at - '0');
    }
    // The most negative number stands for a missing one, so it is out of range too.
    if (at == first || !column_ended() || sum >= -std::int64_t{missing_integer}) {
      return false;
    }
    value = static_cast<std::int32_t>(negative ? -sum : sum);
    return true;
  }

  [[nodiscard]] bool category(std::size_t field, criteo_row& row) {
    if (column_ended()) {
      row.categories[field] = 0;
      row.set_missing(field);
      return true;
    }
    std::uint32_t value = 0;
    if (end - at >= 8 && (end - at == 8 || at[8] == '\t') && parse_eight_hex(at, value)) {
      row.categories[field] = value;
      at += 8;
      return true;
    }
    unsigned bad = 0;
    auto const* const last = at + std::min<std::ptrdiff_t>(end - at, 8);
    for (; at != last && *at != '\t'; ++at) {
      auto const digit = hex_values[static_cast<unsigned char>(*at)];
      bad |= digit;
      value = (value << 4U) | (digit & 15U);
    }
    row.categories[field] = value;
    return bad < 16 && column_ended();
  }
};

/// Column 0 is the label, then come the integers, then the categories.
[[nodiscard]] inline bool take_criteo_column(std::size_t column, criteo_cursor& at,
                                             criteo_row& row) {
  if (column == 0) {
    return at.label(row);
  }
  if (column <= criteo_integers) {
    return at.integer(row.integers[column - 1]);
  }
  return at.category(column - criteo_integers - 1, row);
}

inline constexpr std::size_t criteo_columns = 1 + criteo_integers + criteo_categories;

[[nodiscard]] inline bool take_criteo_line(std::string_view line, criteo_row& row) {
  row.flags = 0;
  criteo_cursor at(line);
  bool good = at.label(row);
  for (std::size_t number = 0; good && number < criteo_integers; ++number) {
    good = at.tab() && at.integer(row.integers[number]);
  }
  for (std::size_t field = 0; good && field < criteo_categories; ++field) {
    good = at.tab() && at.category(field, row);
  }
  return good && at.at == at.end;
}

/// What is wrong with a line that `take_criteo_line` refused. Slow, so kept apart from it.
[[nodiscard]] inline std::string criteo_fault(std::string_view line) {
  auto const columns = static_cast<std::size_t>(std::count(line.begin(), line.end(), '\t')) + 1;
  if (columns != criteo_columns) {
    return "has " + std::to_string(columns) + " columns separated by tabs where " +
           std::to_string(criteo_columns) + " belong";
  }
  criteo_row row;
  for (std::size_t column = 0;; ++column) {
    auto const text = line.substr(0, line.find('\t'));
    criteo_cursor at(text);
    if (!take_criteo_column(column, at, row)) {
      auto const shown = quoted(text);
      if (column == 0) {
        return "has the label " + shown + ", which is neither 0 nor 1";
      }
      return column <= criteo_integers
                 ? "has " + shown + " in I" + std::to_string(column) +
                       ", which is not an integer of 32 bits"
                 : "has " + shown + " in C" + std::to_string(column - criteo_integers) +
                       ", which is not a number of up to 8 hex digits";
    }
    line.remove_prefix(std::min(line.size(), text.size() + 1));
  }
}

}  // namespace detail

/// The click logs of Criteo (Kaggle and 1TB): label, 13 integers, 26 hex categories, tab separated,
/// empty where missing. Plain text or compressed by gzip, as its first bytes say (`gzip_bytes`);
/// read once from its beginning to its end and parsed into 160 bytes a sample, which lie in memory
/// from then on, so that samples are found in any order either way.
///
/// A missing category is the id `missing_category`; dense features are `log_feature` of the
/// integers. Errors name file and line: a wrong number of columns, a label that is not 0 or 1, a
/// bad integer, a bad hex digit; an empty or missing file and a directory too. Compressed data that
/// are cut short or broken are always an error, also where bad lines are skipped.
class criteo_tsv {
 public:
  /// Reads all of the file. Throws for a file that can't be read, and for a bad line unless those
  /// are skipped.
  explicit criteo_tsv(std::string path, bad_lines on_bad = bad_lines::reject,
                      gzip_support gzip = {}) {
    line_reader lines(std::move(path), gzip);
    criteo_row row;
    skipped_ = take_lines(lines, on_bad, [&](std::string_view line) {
      if (!detail::take_criteo_line(line, row)) {
        return detail::criteo_fault(line);
      }
      rows_.push_back(row);
      return std::string();
    });
  }

  [[nodiscard]] std::uint64_t size() const noexcept { return rows_.size(); }
  [[nodiscard]] std::size_t fields() const noexcept { return criteo_categories; }
  [[nodiscard]] std::size_t dense_width() const noexcept { return criteo_integers; }

  /// One id a bag. Samples must be below size().
  void read(span<std::uint64_t const> samples, batch& into) const {
    into.reset({samples.size(), fields(), dense_width()});
    for (std::size_t at = 0; at < samples.size(); ++at) {
      expects(samples[at] < size(), "a sample beyond the end of the Criteo file was asked for");
      detail::put_criteo_row(rows_[samples[at]], at, into);
    }
  }

  /// A sample as the file has it, before dense features are made of it.
  [[nodiscard]] criteo_row const& row(std::uint64_t sample) const noexcept { return rows_[sample]; }
  /// Bad lines that were left out.
  [[nodiscard]] std::uint64_t skipped_lines() const noexcept { return skipped_; }
  /// Bytes of all samples.
  [[nodiscard]] std::size_t memory_bytes() const noexcept { return rows_.memory_bytes(); }

 private:
  slab_list<criteo_row> rows_;
  std::uint64_t skipped_ = 0;
};
static_assert(batch_source<criteo_tsv>);

}  // namespace inlay::inline INLAY_ABI
