#pragma once

#include <inlay/batch/criteo_row.hpp>
#include <inlay/batch/zipf_mandelbrot.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/random.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace inlay::inline INLAY_ABI {

/// How often the ids of one categorical field occur.
struct criteo_field_shape {
  std::uint32_t ids;  ///< distinct ids at full scale
  double missing;     ///< share that is missing
  double top;       ///< share of the most frequent id; that is the missing one where top == missing
  double shift;     ///< of the Zipf-Mandelbrot distribution of all others
  double exponent;  ///< of that distribution
};

/// C1 .. C26, fitted to the first 10,000 rows of Criteo Kaggle.
inline constexpr std::array<criteo_field_shape, criteo_categories> criteo_fields{{
    {1460, 0, .500, 1, 1.90},       {583, 0, .123, 32, 2.45},      {10131227, .036, .047, 0, 1.00},
    {2202608, .036, .073, 2, 1.10}, {305, 0, .666, 2, 2.75},       {24, .133, .459, 0, 3.00},
    {12517, 0, .011, 64, 1.25},     {633, 0, .589, 1, 2.20},       {3, 0, .887, 0, 3.00},
    {93145, 0, .276, 64, 1.35},     {5683, 0, .020, 64, 1.45},     {8351593, .036, .047, 0, 1.00},
    {3194, 0, .022, 64, 1.50},      {27, 0, .363, 1, 3.00},        {14992, 0, .019, 64, 1.60},
    {5461306, .036, .047, 1, 1.05}, {10, 0, .430, 4, 2.10},        {5652, 0, .051, 32, 1.75},
    {2173, .450, .450, 0, 1.35},    {4, .450, .450, 8, 0.50},      {7046547, .036, .047, 0, 1.00},
    {18, .818, .818, 0, 3.00},      {15, 0, .452, 2, 2.95},        {286181, .036, .075, 1, 1.20},
    {105, .450, .450, 2, 3.00},     {142572, .450, .450, 2, 1.15},
}};

/// How one integer is distributed: max(0, floor(exp(N(mean, deviation)) - 1)) + offset.
struct criteo_integer_shape {
  double missing;           ///< share that is missing
  double mean;              ///< of log(1 + value)
  double deviation;         ///< of log(1 + value)
  std::int32_t offset = 0;  ///< added last
};

/// I1 .. I13.
inline constexpr std::array<criteo_integer_shape, criteo_integers> criteo_integer_shapes{{
    {.448, .80, .98},
    {0, 2.12, 2.13, -2},
    {.204, 2.25, 1.28},
    {.198, 1.73, .96},
    {.049, 7.24, 2.90},
    {.251, 3.58, 1.81},
    {.049, 1.54, 1.36},
    {.001, 2.06, 1.18},
    {.049, 3.61, 1.69},
    {.448, .38, .39},
    {.049, .85, .74},
    {.773, .30, .61},
    {.198, 1.88, 1.06},
}};

/// Draws rows that look like Criteo's, without labels: a row depends on the stream it is drawn from
/// alone.
class criteo_shape {
 public:
  /// Fields of up to 1000 ids keep them; larger ones keep the share `scale`, at least 1000, at most
  /// `cap`.
  criteo_shape(double scale, std::uint64_t cap) {
    expects(scale > 0 && scale <= 1, "the scale of synthetic data must lie above 0 and up to 1");
    expects(cap >= 1000, "the cap of synthetic data must be at least 1000 ids a field");
    others_.reserve(criteo_categories);
    for (auto const& field : criteo_fields) {
      auto const wanted = std::clamp(field.ids * scale, 1000.0, static_cast<double>(cap));
      auto const ids = field.ids <= 1000 ? field.ids : static_cast<std::uint32_t>(wanted);
      others_.emplace_back(ids - 1, field.shift, field.exponent);
    }
  }

  /// A sample without its label.
  [[nodiscard]] criteo_row draw(random_stream const& random) const noexcept {
    criteo_row row;
    for (std::size_t field = 0; field < criteo_categories; ++field) {
      draw_category(random, field, row);
    }
    for (std::size_t number = 0; number < criteo_integers; ++number) {
      row.integers[number] = draw_integer(random, number);
    }
    return row;
  }

  /// Distinct ids of a field at this scale, the missing one included where it is the most frequent.
  [[nodiscard]] std::uint32_t ids(std::size_t field) const noexcept {
    return others_[field].ranks() + 1;
  }

  /// The id of a rank of a field. A bijection of 29 bits of (field, rank) into 32, so ids are
  /// distinct and don't reveal how popular they are. Rank 0 is the most frequent.
  [[nodiscard]] static constexpr std::uint32_t id(std::size_t field, std::uint32_t rank) noexcept {
    auto bits = (static_cast<std::uint32_t>(field) << 24U) | rank;
    bits = (bits ^ (bits >> 16U)) * 0x7feb352dU;
    bits = (bits ^ (bits >> 15U)) * 0x846ca68bU;
    return bits ^ (bits >> 16U);
  }

 private:
  // Counters of a row's stream: 256 for each column, of which the first says whether it is missing.
  [[nodiscard]] static constexpr std::uint64_t counter(std::size_t column) noexcept {
    return static_cast<std::uint64_t>(column) << 8U;
  }

  void draw_category(random_stream const& random, std::size_t field,
                     criteo_row& row) const noexcept {
    auto const& shape = criteo_fields[field];
    auto const first = counter(field);
    auto const chance = random.uniform_double(first);
    bool const missing_is_top = shape.missing == shape.top;
    if (chance < shape.top) {
      missing_is_top ? row.set_missing(field) : void(row.categories[field] = id(field, 0));
    } else if (!missing_is_top && chance < shape.top + shape.missing) {
      row.set_missing(field);
    } else {
      row.categories[field] = id(field, others_[field](random, first + 1));
    }
  }

  [[nodiscard]] static std::int32_t draw_integer(random_stream const& random,
                                                 std::size_t number) noexcept {
    auto const& shape = criteo_integer_shapes[number];
    auto const first = counter(criteo_categories + number);
    if (random.uniform_double(first) < shape.missing) {
      return missing_integer;
    }
    // normal(n) takes the bits of 3n to 3n+2, which lie in this column's share of the counters.
    auto const log =
        shape.mean + shape.deviation * static_cast<double>(random.normal(first / 3 + 1));
    auto const value = std::clamp(std::floor(std::exp(log) - 1), 0.0, 2e9);
    return static_cast<std::int32_t>(value) + shape.offset;
  }

  std::vector<zipf_mandelbrot> others_;  // by field: all ids but the most frequent
};

}  // namespace inlay::inline INLAY_ABI
