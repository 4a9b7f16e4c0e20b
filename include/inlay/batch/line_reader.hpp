#pragma once

#include <inlay/batch/byte_stream.hpp>
#include <inlay/batch/gzip_bytes.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// What becomes of a line that can't be understood.
enum class bad_lines {
  reject,  ///< it is an error that names file and line
  skip     ///< it is left out and counted
};

namespace detail {

/// Text of a file as an error message shows it: short, and nothing that upsets a terminal.
[[nodiscard]] inline std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 40;
  std::string shown = "'";
  for (char const letter : text.substr(0, longest)) {
    shown += letter >= ' ' && letter <= '~' ? letter : '?';
  }
  return shown + (text.size() > longest ? "...'" : "'");
}

}  // namespace detail

/// The lines of a text file, one after the other, read in large pieces, and unpacked where gzip has
/// compressed them (`gzip_bytes`; a unit that does not link `inlay::zlib` refuses them in words).
///
/// LF and CRLF end a line, the last one may lack its end. A missing file, a directory, compressed
/// data that are cut short or broken and a line too long for any format here are errors that name
/// the file.
class line_reader {
 public:
  static constexpr std::size_t longest_line = std::size_t{1} << 22U;  ///< bytes

  /// Opens a file. Throws if that is impossible.
  explicit line_reader(std::string path, gzip_support gzip = {})
      : path_(std::move(path)), bytes_(open_bytes(path_, gzip)), memory_(longest_line) {
    refill();
  }

  /// The next line without its end, valid until the next call; nothing after the last one.
  [[nodiscard]] std::optional<std::string_view> next() {
    auto length = find_end(0);
    if (length == filled_ - at_) {
      auto const searched = length;
      refill();
      length = find_end(searched);
      if (length == filled_ - at_ && length == longest_line) {
        fail("line " + std::to_string(number_ + 1) + " of '" + path_ +
             "' is longer than 4 MiB; this is not a text file");
      }
      if (at_ == filled_) {
        return std::nullopt;
      }
    }
    std::string_view line(memory_.data() + at_, length);
    at_ = std::min(at_ + length + 1, filled_);
    ++number_;
    if (!line.empty() && line.back() == '\r') {
      line.remove_suffix(1);
    }
    return line;
  }

  /// Number of the line that `next` gave last, from 1.
  [[nodiscard]] std::uint64_t number() const noexcept { return number_; }
  /// The path that was opened.
  [[nodiscard]] std::string const& path() const noexcept { return path_; }

  /// Throws `error` about the line that `next` gave last.
  [[noreturn]] void reject(std::string const& fault) const {
    fail("line " + std::to_string(number_) + " of '" + path_ + "' " + fault);
  }

 private:
  /// Length of the line at `at_`, or of all that is there when its end is not.
  [[nodiscard]] std::size_t find_end(std::size_t searched) const noexcept {
    auto const* const first = memory_.data() + at_;
    auto const* const end = std::memchr(first + searched, '\n', filled_ - at_ - searched);
    return end == nullptr ? filled_ - at_
                          : static_cast<std::size_t>(static_cast<char const*>(end) - first);
  }

  void refill() {
    std::memmove(memory_.data(), memory_.data() + at_, filled_ - at_);
    filled_ -= at_;
    at_ = 0;
    filled_ += bytes_->read(memory_.view().subspan(filled_));
  }

  std::string path_;
  std::unique_ptr<byte_stream> bytes_;
  buffer<char> memory_;
  std::size_t at_ = 0;      // first byte not yet given
  std::size_t filled_ = 0;  // bytes there
  std::uint64_t number_ = 0;
};

/// Hands every line to `take(line) -> std::string`, which keeps it or says what is wrong with it
/// (an empty string: nothing). Returns how many lines were skipped. A file of which nothing is kept
/// is an error.
template <class Take>
std::uint64_t take_lines(line_reader& lines, bad_lines on_bad, Take const& take) {
  std::uint64_t kept = 0;
  std::uint64_t skipped = 0;
  while (auto const line = lines.next()) {
    auto const fault = take(*line);
    if (fault.empty()) {
      ++kept;
    } else if (on_bad == bad_lines::skip) {
      ++skipped;
    } else {
      lines.reject(fault);
    }
  }
  if (kept == 0) {
    fail("'" + lines.path() + "' holds no samples" +
         (skipped == 0 ? "" : ": all " + std::to_string(skipped) + " lines are bad"));
  }
  return skipped;
}

}  // namespace inlay::inline INLAY_ABI
