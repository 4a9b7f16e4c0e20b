#pragma once

#include <inlay/batch/byte_stream.hpp>
#include <inlay/batch/file_bytes.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/views.hpp>

#if INLAY_HAS_ZLIB
#include <zlib.h>
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <string>
#include <type_traits>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// Whether this unit reads files that gzip has compressed: one that links `inlay::zlib` does.
///
/// It is an argument of whatever opens a file, never given, so that units with and without zlib can
/// be in one program and hand each other what they have read: they call functions of two names.
using gzip_support = std::bool_constant<INLAY_HAS_ZLIB != 0>;

#if INLAY_HAS_ZLIB

/// What gzip has compressed, unpacked while it is read, in constant memory.
///
/// One member or several on end, as `cat a.gz b.gz` makes them. A file that is cut short or broken,
/// and one with something else behind its last member, is an error that names file and byte; it
/// comes with the bytes it is about, or, where only the check sum tells, at the end of its member.
class gzip_bytes final : public byte_stream {
 public:
  /// Unpacks what this file holds.
  explicit gzip_bytes(std::unique_ptr<file_bytes> file) : file_(std::move(file)), packed_(piece) {
    constexpr auto gzip_only = 16;  // not zlib's own header, nor none
    if (inflateInit2(&state_, gzip_only + MAX_WBITS) != Z_OK) {
      throw std::bad_alloc();
    }
  }
  gzip_bytes(gzip_bytes const&) = delete;
  gzip_bytes& operator=(gzip_bytes const&) = delete;
  ~gzip_bytes() override { inflateEnd(&state_); }

  /// As `byte_stream` asks.
  [[nodiscard]] std::size_t read(span<char> into) override {
    std::size_t filled = 0;
    while (filled < into.size() && more()) {
      filled += unpack(into.subspan(filled));
    }
    return filled;
  }

 private:
  static constexpr std::size_t piece = std::size_t{1} << 18U;  // bytes read at once

  /// Whether there is anything left to unpack. Goes on to the next member where one has ended.
  [[nodiscard]] bool more() {
    if (state_.avail_in == 0) {
      state_.next_in = reinterpret_cast<Bytef*>(packed_.data());
      state_.avail_in = static_cast<uInt>(file_->read(packed_.view()));
      packed_read_ += state_.avail_in;
    }
    if (!member_ended_) {
      return true;  // even at the end of the file: zlib may hold back bytes, or misses some
    }
    if (state_.avail_in == 0) {
      return false;
    }
    if (*state_.next_in != 0x1f) {
      fail("'" + file_->path() +
           "' holds something else behind what gzip has compressed, from byte " +
           std::to_string(place()) + " on");
    }
    inflateReset(&state_);
    member_ended_ = false;
    return true;
  }

  std::size_t unpack(span<char> into) {
    auto const room = std::min<std::size_t>(into.size(), std::numeric_limits<uInt>::max());
    state_.next_out = reinterpret_cast<Bytef*>(into.data());
    state_.avail_out = static_cast<uInt>(room);
    auto const status = inflate(&state_, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) {
      throw std::bad_alloc();
    }
    // No progress though there is room: what is missing is input.
    if (status == Z_BUF_ERROR) {
      fail("'" + file_->path() + "' is cut short: its compressed data should go on after byte " +
           std::to_string(place()));
    }
    if (status != Z_OK && status != Z_STREAM_END) {
      fail("'" + file_->path() + "' can't be unpacked, it is broken at or before byte " +
           std::to_string(place()) + (state_.msg == nullptr ? "" : std::string(": ") + state_.msg));
    }
    member_ended_ = status == Z_STREAM_END;
    return room - state_.avail_out;
  }

  /// Bytes of the file that zlib has taken.
  [[nodiscard]] std::uint64_t place() const noexcept { return packed_read_ - state_.avail_in; }

  std::unique_ptr<file_bytes> file_;
  buffer<char> packed_;
  std::uint64_t packed_read_ = 0;  // bytes
  z_stream state_ = {};            // zlib knows its address
  bool member_ended_ = false;
};

#endif

/// Opens a file, and unpacks it if gzip has compressed it, which its first two bytes say, whatever
/// its name. Throws if that is impossible.
[[nodiscard]] inline std::unique_ptr<byte_stream> open_bytes(std::string path,
                                                             gzip_support /*by_name*/ = {}) {
  auto file = std::make_unique<file_bytes>(std::move(path));
  if (!file->begins_with("\x1f\x8b")) {
    return file;
  }
#if INLAY_HAS_ZLIB
  return std::make_unique<gzip_bytes>(std::move(file));
#else
  fail("'" + file->path() +
       "' is compressed by gzip, and this build has no zlib: link inlay::zlib (find_package(inlay "
       "COMPONENTS zlib)), or unpack the file");
#endif
}

}  // namespace inlay::inline INLAY_ABI
