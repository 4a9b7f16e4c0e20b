#pragma once

#include <inlay/batch/file_bytes.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/sim/access_trace.hpp>
#include <inlay/sim/read_key_log.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// Records of one length in a file, each with a key in it; numbers are little-endian.
struct trace_format {
  std::string_view ending;     ///< of the names of such files
  std::size_t record_bytes{};  ///< length of a record
  std::size_t key_at{};        ///< where the key begins in it
  std::size_t key_bytes{};     ///< length of the key
};

/// What `read_trace` can read. oracleGeneral is libCacheSim's: a time of 32 bits, the key of 64,
/// a size of 32, the next use of 64, without gaps. The size and the next use are not read.
inline constexpr std::array<trace_format, 4> trace_formats{{
    {".u32", 4, 0, 4},
    {".u64", 8, 0, 8},
    {".oracleGeneral", 24, 4, 8},
    {".oracleGeneral.bin", 24, 4, 8},
}};

/// The format of a file by the ending of its name. An ending that nobody knows is an error that
/// lists those known.
[[nodiscard]] inline trace_format const& trace_format_of(std::string const& path) {
  for (auto const& format : trace_formats) {
    if (path.ends_with(format.ending)) return format;
  }
  std::string known;
  for (auto const& format : trace_formats) {
    known += ' ' + std::string(format.ending);
  }
  fail("'" + path + "' ends like no trace that can be read; known are" + known + " .keys");
}

/// Reads a file of such records, all of it. A file that can't be read, is empty or ends within a
/// record is an error that names it.
[[nodiscard]] inline access_trace read_trace(std::string const& path, trace_format const& format) {
  constexpr std::size_t records_at_once = 4096;
  expects(format.key_bytes > 0 && format.key_bytes <= 8 &&
              format.key_at + format.key_bytes <= format.record_bytes,
          "a trace's format needs a key of at most 8 bytes within each record");
  file_bytes file(path);
  buffer<char> bytes(records_at_once * format.record_bytes);
  buffer<access_trace::key> keys;
  for (auto filled = bytes.size(); filled == bytes.size();) {
    filled = file.read(bytes.view());
    auto const records = filled / format.record_bytes;
    auto const first = keys.size();
    if (first + records >= access_trace::most_requests) {
      fail("'" + path + "' is too long: a trace holds at most 2^32 - 2 requests");
    }
    keys.grow(first + records);
    for (std::size_t at = 0; at < records; ++at) {
      auto const* const record = bytes.data() + at * format.record_bytes;
      keys[first + at] = {detail::little_endian(record + format.key_at, format.key_bytes)};
    }
    if (auto const rest = filled % format.record_bytes; rest != 0) {
      fail("'" + path + "' is cut short: a request takes " + std::to_string(format.record_bytes) +
           " bytes, and " + std::to_string(rest) + " are left behind the last of " +
           std::to_string(keys.size()));
    }
  }
  if (keys.empty()) fail("'" + path + "' is empty: a trace needs at least one request");
  return access_trace(std::move(keys));
}

/// Reads a file in the format that its ending tells: `trace_formats`, or `.keys`, a `key_log`,
/// which alone says where batches end.
[[nodiscard]] inline access_trace read_trace(std::string const& path) {
  if (path.ends_with(".keys")) return read_key_log(path);
  return read_trace(path, trace_format_of(path));
}

}  // namespace inlay::inline INLAY_ABI
