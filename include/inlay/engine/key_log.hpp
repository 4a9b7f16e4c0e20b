#pragma once

#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/views.hpp>
#include <inlay/vsid/keys.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <ostream>

namespace inlay::inline INLAY_ABI {

/// The keys that steps ask for, in the order in which a cache meets them, and where each step ends:
/// what `batch_simulator` replays, with the hits and victims of the training itself.
///
/// ```cpp
/// inlay::key_log seen;
/// trainer.attach(seen);
/// ...
/// seen.write(file);  // file.keys, for read_trace and simulate_cache
/// ```
///
/// Tables of one width share a cache; a log is of one width. It takes 8 bytes an id.
class key_log {
 public:
  /// Of the tables of this width; 0 where there is only one.
  explicit key_log(std::size_t dim = 0) noexcept : dim_(dim) {}

  /// Which tables it is of; 0: all.
  [[nodiscard]] std::size_t dim() const noexcept { return dim_; }
  /// The keys of all steps. // (ids)
  [[nodiscard]] span<narrow::key const> keys() const noexcept { return keys_.view(); }
  /// One behind the last key of each step. // (steps)
  [[nodiscard]] span<std::uint32_t const> batch_ends() const noexcept { return ends_.view(); }

  /// Adds the keys of a step. On failure all is as before.
  void add(span<narrow::key const> keys) {
    auto const first = keys_.size();
    expects(keys.size() < most - first, "a log of keys holds at most 2^32 - 2 of them");
    ends_.push_back(static_cast<std::uint32_t>(first + keys.size()));
    try {
      keys_.grow(first + keys.size());
    } catch (...) {
      ends_.grow(ends_.size() - 1);
      throw;
    }
    std::copy(keys.begin(), keys.end(), keys_.begin() + first);
  }

  /// Forgets the keys of the last step, if there is one.
  void forget_step() noexcept {
    if (ends_.empty()) return;
    ends_.resize(ends_.size() - 1);
    keys_.resize(ends_.empty() ? 0 : ends_[ends_.size() - 1]);
  }

  /// What a file of it begins with.
  static constexpr char magic[] = "inlaykey";

  /// Writes `magic`, then little-endian words of 64 bits: how many keys, how many steps, the ends
  /// of the steps, the keys. Whether the stream took everything is for the caller to ask.
  void write(std::ostream& out) const {
    out.write(magic, 8);
    put(out, keys_.size());
    put(out, ends_.size());
    for (auto const end : ends_) {
      put(out, end);
    }
    for (auto const key : keys_) {
      put(out, key.bits);
    }
  }

 private:
  static constexpr std::size_t most = ~std::uint32_t{0};

  static void put(std::ostream& out, std::uint64_t word) {
    std::array<char, 8> bytes{};
    for (auto& byte : bytes) {
      byte = static_cast<char>(word & 0xffU);
      word >>= 8U;
    }
    out.write(bytes.data(), bytes.size());
  }

  std::size_t dim_;
  buffer<narrow::key> keys_;
  buffer<std::uint32_t> ends_;
};

}  // namespace inlay::inline INLAY_ABI
