#pragma once

#include <inlay/batch/byte_stream.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/views.hpp>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// The bytes of a file as they lie there. Errors name the file. It need not be one that seeks: a
/// pipe will do.
class file_bytes final : public byte_stream {
 public:
  /// Opens a file. Throws if that is impossible.
  explicit file_bytes(std::string path) : path_(std::move(path)) {
    file_.reset(std::fopen(path_.c_str(), "rb"));
    if (!file_) {
      auto const cause = std::generic_category().message(errno);
      fail("'" + path_ + "' can't be opened: " + cause);
    }
  }

  /// Whether the file begins with these bytes; to be asked before anything was read, once.
  [[nodiscard]] bool begins_with(std::string_view bytes) {
    head_.resize(bytes.size());
    head_.resize(read_file({head_.data(), head_.size()}));
    return head_ == bytes;
  }

  /// As `byte_stream` asks.
  [[nodiscard]] std::size_t read(span<char> into) override {
    auto const again = std::min(head_.size(), into.size());
    std::copy_n(head_.data(), again, into.data());
    head_.erase(0, again);
    return again + read_file(into.subspan(again));
  }

  /// The path that was opened.
  [[nodiscard]] std::string const& path() const noexcept { return path_; }

 private:
  struct close {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };

  [[nodiscard]] std::size_t read_file(span<char> into) {
    auto const count = std::fread(into.data(), 1, into.size(), file_.get());
    if (std::ferror(file_.get()) != 0) {
      auto const cause = std::generic_category().message(errno);
      fail("'" + path_ + "' can't be read: " + cause);
    }
    return count;
  }

  std::string path_;
  std::unique_ptr<std::FILE, close> file_;
  std::string head_;  // what `begins_with` has read and `read` has not yet given
};

}  // namespace inlay::inline INLAY_ABI
