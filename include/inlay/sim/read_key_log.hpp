#pragma once

#include <inlay/batch/file_bytes.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/views.hpp>
#include <inlay/engine/key_log.hpp>
#include <inlay/sim/access_trace.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace inlay::inline INLAY_ABI {

namespace detail {

/// An unsigned number, its lowest byte first.
[[nodiscard]] inline std::uint64_t little_endian(char const* bytes, std::size_t count) noexcept {
  std::uint64_t value = 0;
  for (std::size_t at = count; at-- > 0;) {
    value = value << 8U | static_cast<unsigned char>(bytes[at]);
  }
  return value;
}

/// Words of 64 bits from a file, one after the other.
class word_reader {
 public:
  explicit word_reader(std::string const& path) : file_(path), bytes_(words_at_once * 8) {}

  /// The next word; at the end of the file an error that names it.
  [[nodiscard]] std::uint64_t next() {
    if (at_ == filled_) fill();
    if (filled_ - at_ < 8) fail("'" + file_.path() + "' is cut short");
    auto const word = little_endian(bytes_.data() + at_, 8);
    at_ += 8;
    return word;
  }

  /// Whether there is nothing more.
  [[nodiscard]] bool is_at_end() {
    if (at_ == filled_) fill();
    return at_ == filled_;
  }

 private:
  static constexpr std::size_t words_at_once = 4096;

  void fill() {
    at_ = 0;
    filled_ = file_.read(bytes_.view());
  }

  file_bytes file_;
  buffer<char> bytes_;
  std::size_t at_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace detail

/// Reads what `key_log` has written, with the ends of its steps. A file that can't be read, is
/// something else, or is shorter or longer than it says is an error that names it.
[[nodiscard]] inline access_trace read_key_log(std::string const& path) {
  detail::word_reader words(path);
  if (words.is_at_end() || words.next() != detail::little_endian(key_log::magic, 8)) {
    fail("'" + path + "' is no log of keys: it does not begin with " + key_log::magic);
  }
  auto const requests = words.next();
  auto const batches = words.next();
  if (requests >= access_trace::most_requests || batches >= access_trace::most_requests) {
    fail("'" + path + "' is too long: a trace holds at most 2^32 - 2 requests");
  }
  // Grown as words come, for what a broken file says of its length may be anything.
  buffer<std::uint32_t> ends;
  for (std::uint64_t n = 0; n < batches; ++n) {
    auto const end = words.next();
    if (end > requests) fail("'" + path + "' has a step that ends behind the last of its keys");
    ends.push_back(static_cast<std::uint32_t>(end));
  }
  buffer<access_trace::key> keys;
  for (std::uint64_t n = 0; n < requests; ++n) {
    keys.push_back({words.next()});
  }
  if (!words.is_at_end()) fail("'" + path + "' goes on behind the last of its keys");
  if (keys.empty()) fail("'" + path + "' is empty: a trace needs at least one request");
  return access_trace(std::move(keys), std::move(ends));
}

}  // namespace inlay::inline INLAY_ABI
