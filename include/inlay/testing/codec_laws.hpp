#pragma once

#include <inlay/codec/codec.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/random.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <string>
#include <type_traits>
#include <vector>

namespace inlay::inline INLAY_ABI::testing {

/// The bound of a codec that loses nothing: every bit comes back, those of a NaN included.
struct lossless {};

namespace detail {

/// A matrix whose rows don't lie together, in memory whose other floats must not change.
class law_matrix {
 public:
  static constexpr float guard = -77.25F;

  law_matrix(std::size_t rows, std::size_t cols, std::size_t gap)
      : rows_(rows), cols_(cols), stride_(cols + gap), floats_(rows * stride_ + 2, guard) {}

  [[nodiscard]] matrix_view<float> view() { return {floats_.data() + 1, rows_, cols_, stride_}; }
  [[nodiscard]] matrix_view<float const> view() const {
    return {floats_.data() + 1, rows_, cols_, stride_};
  }
  [[nodiscard]] float& at(std::size_t row, std::size_t col) { return view().row(row)[col]; }
  [[nodiscard]] float at(std::size_t row, std::size_t col) const { return view().row(row)[col]; }
  [[nodiscard]] std::size_t rows() const { return rows_; }
  [[nodiscard]] std::size_t cols() const { return cols_; }

  [[nodiscard]] bool guards_stand() const {
    for (std::size_t i = 0; i < floats_.size(); ++i) {
      bool const inside = i > 0 && i <= rows_ * stride_ && (i - 1) % stride_ < cols_;
      if (!inside && floats_[i] != guard) return false;
    }
    return true;
  }

 private:
  std::size_t rows_;
  std::size_t cols_;
  std::size_t stride_;
  std::vector<float> floats_;
};

/// Bytes at an odd address, with guards on both sides.
class law_bytes {
 public:
  static constexpr auto guard = std::byte{0xa5};

  explicit law_bytes(std::size_t size) : size_(size), bytes_(size + 34, guard) {}

  [[nodiscard]] span<std::byte> view() { return {bytes_.data() + 17, size_}; }
  [[nodiscard]] bool guards_stand() const {
    auto const is_guard = [](std::byte byte) { return byte == guard; };
    return std::all_of(bytes_.begin(), bytes_.begin() + 17, is_guard) &&
           std::all_of(bytes_.end() - 17, bytes_.end(), is_guard);
  }

 private:
  std::size_t size_;
  std::vector<std::byte> bytes_;
};

/// What a codec is tried on.
enum class law_content { normal, constant, repeated_rows, special, any_bits, count };

[[nodiscard]] inline float law_value(law_content content, random_stream random, std::size_t row,
                                     std::size_t col, std::size_t cols) {
  using limits = std::numeric_limits<float>;
  float const specials[] = {0.0F,
                            -0.0F,
                            limits::infinity(),
                            -limits::infinity(),
                            limits::max(),
                            limits::min(),
                            limits::denorm_min(),
                            limits::lowest(),
                            limits::quiet_NaN(),
                            std::bit_cast<float>(0xffc12345U),
                            std::bit_cast<float>(0x7f812345U)};
  auto const place = row * cols + col;
  switch (content) {
  case law_content::normal:
    return 0.1F * random.normal(place);
  case law_content::constant:
    return 0.3F;
  case law_content::repeated_rows:
    return random.normal((row % 3) * cols + col);
  case law_content::special:
    return place % 2 == 0 ? random.normal(place) : specials[(place / 2) % std::size(specials)];
  default:
    return std::bit_cast<float>(static_cast<std::uint32_t>(random.bits(place)));
  }
}

[[nodiscard]] inline law_matrix law_rows(law_content content, std::size_t rows, std::size_t cols,
                                         std::size_t gap, std::uint64_t seed) {
  law_matrix result(rows, cols, gap);
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t col = 0; col < cols; ++col) {
      // Through an integer: a signalling NaN must arrive with all its bits.
      result.at(row, col) = law_value(content, random_stream{mix(seed)}, row, col, cols);
    }
  }
  return result;
}

[[noreturn]] inline void codec_breaks(std::string const& law, law_matrix const& rows,
                                      std::uint64_t seed) {
  fail("a codec must " + law + " (" + std::to_string(rows.rows()) + " x " +
       std::to_string(rows.cols()) + " floats, seed " + std::to_string(seed) + ")");
}

[[nodiscard]] inline bool comes_back(float was, float is, lossless) {
  return std::bit_cast<std::uint32_t>(was) == std::bit_cast<std::uint32_t>(is);
}
[[nodiscard]] inline bool comes_back(float was, float is, double bound) {
  if (std::isnan(was)) return std::isnan(is);
  if (std::isinf(was)) return was == is;
  return std::isfinite(is) && std::abs(double{was} - double{is}) <= bound;
}

template <class Bound>
[[nodiscard]] auto bound_for(Bound const& bound, matrix_view<float const> rows) {
  if constexpr (std::is_same_v<Bound, lossless>) {
    return bound;
  } else {
    return double{bound(rows)};
  }
}

template <codec Codec>
[[nodiscard]] std::vector<std::byte> encoded(Codec const& codec, law_matrix const& rows,
                                             std::uint64_t seed) {
  law_bytes into(codec.max_bytes(rows.rows(), rows.cols()));
  auto const size = codec.encode(rows.view(), into.view());
  if (size > into.view().size()) codec_breaks("write no more than max_bytes", rows, seed);
  if (!into.guards_stand()) codec_breaks("write nothing outside its buffer", rows, seed);
  auto const bytes = into.view().first(size);
  return {bytes.begin(), bytes.end()};
}

/// Whether `decode` throws; whatever it does, it stays inside its target.
template <codec Codec>
[[nodiscard]] bool refuses(Codec const& codec, span<std::byte const> bytes, law_matrix const& like,
                           std::uint64_t seed) {
  law_bytes from(bytes.size());
  std::copy(bytes.begin(), bytes.end(), from.view().begin());
  law_matrix target(like.rows(), like.cols(), 3);
  bool refused = false;
  try {
    codec.decode(from.view(), target.view());
  } catch (error const&) {
    refused = true;
  }
  if (!target.guards_stand()) codec_breaks("decode into its target alone", like, seed);
  return refused;
}

template <codec Codec, class Bound>
void check_round_trip(Codec const& codec, Bound const& bound, law_matrix const& rows,
                      std::vector<std::byte> const& bytes, std::uint64_t seed) {
  law_bytes from(bytes.size());
  std::copy(bytes.begin(), bytes.end(), from.view().begin());
  law_matrix back(rows.rows(), rows.cols(), 5);
  codec.decode(from.view(), back.view());
  if (!back.guards_stand()) codec_breaks("decode into its target alone", rows, seed);
  auto const limit = bound_for(bound, rows.view());
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    for (std::size_t col = 0; col < rows.cols(); ++col) {
      if (!comes_back(rows.at(row, col), back.at(row, col), limit)) {
        codec_breaks("give back row " + std::to_string(row) + ", column " + std::to_string(col) +
                         " within its bound: " + std::to_string(rows.at(row, col)) +
                         " came back as " + std::to_string(back.at(row, col)),
                     rows, seed);
      }
    }
  }
}

template <codec Codec>
void check_short_buffer(Codec const& codec, law_matrix const& rows, std::size_t size,
                        std::uint64_t seed) {
  if (size == 0) return;
  law_bytes into(size - 1);
  bool refused = false;
  try {
    (void)codec.encode(rows.view(), into.view());
  } catch (error const&) {
    refused = true;
  }
  if (!into.guards_stand()) codec_breaks("write nothing behind a short buffer", rows, seed);
  if (!refused) codec_breaks("refuse a buffer that is one byte short", rows, seed);
}

template <codec Codec>
void check_broken_bytes(Codec const& codec, law_matrix const& rows, std::vector<std::byte> bytes,
                        std::uint64_t seed) {
  random_stream const random{seed};
  for (std::size_t length = 0; length < bytes.size(); length += 1 + length / 8) {
    if (!refuses(codec, {bytes.data(), length}, rows, seed)) {
      codec_breaks("refuse bytes cut off after " + std::to_string(length), rows, seed);
    }
  }
  if (!bytes.empty() && !refuses(codec, {bytes.data(), bytes.size() - 1}, rows, seed)) {
    codec_breaks("refuse bytes of which the last is missing", rows, seed);
  }
  for (std::size_t trial = 0; trial < 32 && !bytes.empty(); ++trial) {
    auto& byte = bytes[random.bits(2 * trial) % bytes.size()];
    auto const before = byte;
    byte ^= static_cast<std::byte>(1 + random.bits(2 * trial + 1) % 255);
    // An error or other values: both are right, a crash is not.
    (void)refuses(codec, {bytes.data(), bytes.size()}, rows, seed);
    byte = before;
  }
  bytes.push_back(std::byte{0});
  if (!refuses(codec, {bytes.data(), bytes.size()}, rows, seed)) {
    codec_breaks("refuse bytes with one more at the end", rows, seed);
  }
}

}  // namespace detail

/// Checks all laws of `codec` on random, constant, repeated and special values; throws `error` with
/// the law that does not hold. `bound` is `lossless{}`, or says for rows (matrix_view<float const>)
/// the most by which a finite value may differ when it comes back.
template <codec Codec, class Bound>
void check_codec(Codec const& codec, Bound const& bound, std::uint64_t seed = 1) {
  struct {
    std::size_t rows;
    std::size_t cols;
  } const shapes[] = {{0, 0}, {0, 5}, {3, 0}, {1, 1}, {1, 17}, {7, 3}, {33, 64}, {130, 16}};
  for (auto const& [rows, cols] : shapes) {
    for (int content = 0; content < static_cast<int>(detail::law_content::count); ++content) {
      auto const kind = static_cast<detail::law_content>(content);
      auto const original = detail::law_rows(kind, rows, cols, 3, seed);
      auto const bytes = detail::encoded(codec, original, seed);
      if (detail::encoded(codec, detail::law_rows(kind, rows, cols, 0, seed), seed) != bytes) {
        detail::codec_breaks("give the same bytes for the same rows, however they lie", original,
                             seed);
      }
      detail::check_round_trip(codec, bound, original, bytes, seed);
      detail::check_short_buffer(codec, original, bytes.size(), seed);
      detail::check_broken_bytes(codec, original, bytes, seed);
    }
  }
}

}  // namespace inlay::inline INLAY_ABI::testing
