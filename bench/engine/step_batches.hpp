#pragma once

#include <inlay/batch/batch.hpp>
#include <inlay/core/random.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

/// Batches in which a third of the ids are distinct, and of those a chosen share is cold: it comes
/// back only after twelve batches, when a cache of `cache_rows()` has long let it go. The others
/// are hot: they come in every batch, and skewed.
class step_batches {
 public:
  static constexpr std::size_t rows = 8192;
  static constexpr std::size_t fields = 26;
  static constexpr std::size_t distinct = rows / 3;  // ids of a field in a batch

  explicit step_batches(double cold_share)
      : cold_(static_cast<std::size_t>(cold_share * static_cast<double>(distinct))), all_(batches) {
    for (std::size_t number = 0; number < batches; ++number) {
      fill(number);
    }
  }

  [[nodiscard]] std::vector<inlay::batch> const& all() const noexcept { return all_; }
  /// Room for a batch, and for the cold ids of two more.
  [[nodiscard]] std::size_t cache_rows() const noexcept { return fields * (distinct + 2 * cold_); }

 private:
  static constexpr std::size_t batches = 12;

  void fill(std::size_t number) {
    auto& content = all_[number];
    content.reset({rows, fields, 0});
    auto const hot = distinct - cold_;
    inlay::random_stream const random{inlay::mix(17, number)};
    for (std::size_t i = 0; i < rows * fields; ++i) {
      // A step that is odd, and so visits every row of a field once.
      auto const place = i / rows * rows + i % rows * 2731 % rows;
      auto const nth = i % rows;
      auto const u = random.uniform_double(i);
      auto const skewed = static_cast<inlay::raw_id>(u * u * u * static_cast<double>(hot));
      content.ids()[place] = nth < hot        ? nth
                             : nth < distinct ? distinct + number * cold_ + (nth - hot)
                                              : skewed;
    }
    for (auto& label : content.labels()) {
      label = 0.0F;
    }
  }

  std::size_t cold_;
  std::vector<inlay::batch> all_;
};
