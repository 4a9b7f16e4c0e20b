#pragma once

#include <inlay/core/error.hpp>

#include <fstream>
#include <string>
#include <utility>

/// A file to write when the work is done, opened before it begins: a path that can't be written is
/// an error at once, not after hours. An empty path is no file.
class output_file {
 public:
  explicit output_file(std::string path) : path_(std::move(path)) {
    if (path_.empty()) return;
    stream_.open(path_, std::ios::binary);
    if (!stream_) inlay::fail("can't write to " + path_);
  }

  [[nodiscard]] bool wanted() const { return !path_.empty(); }
  [[nodiscard]] std::ofstream& stream() { return stream_; }

  /// Call it when all is written.
  void close() {
    stream_.close();
    if (!stream_) inlay::fail("not all could be written to " + path_);
  }

 private:
  std::string path_;
  std::ofstream stream_;
};
