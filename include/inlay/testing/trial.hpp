#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/random.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace inlay::inline INLAY_ABI {

namespace testing {

/// A run of laws over one type: random draws from a seed, and the sentence when a law is broken.
class trial {
 public:
  /// Of what the sentences name, from a seed that they name too.
  trial(std::string subject, std::uint64_t seed)
      : subject_(std::move(subject)), seed_(seed), stream_{mix(seed)} {}

  /// 64 random bits.
  [[nodiscard]] std::uint64_t bits() noexcept { return stream_.bits(drawn_++); }

  /// One of 0 .. count - 1.
  [[nodiscard]] std::size_t below(std::size_t count) noexcept { return bits() % count; }

  /// True in `percent` of a hundred cases.
  [[nodiscard]] bool chance(std::size_t percent) noexcept { return below(100) < percent; }

  /// One of 0 .. count - 1, the low ones far more often, as ids are in data.
  [[nodiscard]] std::size_t skewed(std::size_t count) noexcept {
    return below(1 + below(1 + below(count)));
  }

  /// Throws `error` unless the law was kept: the subject, the law and the seed in one sentence.
  void require(bool kept, std::string_view law, char const* file = __builtin_FILE(),
               int line = __builtin_LINE()) const {
    if (!kept) [[unlikely]] {
      fail(subject_ + " breaks a law: " + std::string(law) + " (seed " + std::to_string(seed_) +
               ")",
           file, line);
    }
  }

 private:
  std::string subject_;
  std::uint64_t seed_;
  random_stream stream_;
  std::uint64_t drawn_ = 0;
};

}  // namespace testing

}  // namespace inlay::inline INLAY_ABI
