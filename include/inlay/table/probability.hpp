#pragma once

#include <inlay/core/error.hpp>
#include <inlay/core/hash.hpp>
#include <inlay/core/power.hpp>
#include <inlay/core/random.hpp>
#include <inlay/table/admission.hpp>

#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Every occurrence of a key that has no row gives it one with a chance of `of`, so that a key
/// waits for 1 / `of` occurrences on average. Needs no memory. The draw is a function of seed, key
/// and step: the same for any number of ranks and threads, and when a step is done again.
///
/// Wins over `after` where counts have no room. Loses where keys of few uses must stay out: of
/// those that occur once it lets in one in 1 / `of`.
struct probability {
  static constexpr char const* name = "probability";

  float of = 0.1F;         ///< chance of each occurrence; 0 to 1
  std::uint64_t seed = 1;  ///< of the draws

  void check() const {
    expects(of >= 0.0F && of <= 1.0F, "the probability of admission must be between 0 and 1");
  }

  template <class Key>
  class state {
   public:
    /// Of nothing but the knobs.
    explicit state(probability const& part)
        : refusal_(1.0 - static_cast<double>(part.of)), seed_(part.seed) {
      part.check();
    }

    [[nodiscard]] bool admit(Key key, std::uint32_t count, step_id step) const noexcept {
      // One draw for all occurrences: that none of them admits has the power of the chance.
      random_stream const draws{mix(seed_, hash(key))};
      return draws.uniform_double(static_cast<std::uint64_t>(number(step))) >=
             power(refusal_, count);
    }
    [[nodiscard]] std::size_t bytes() const noexcept { return 0; }
    [[nodiscard]] std::uint64_t dropped() const noexcept { return 0; }

   private:
    double refusal_;  // the chance that one occurrence doesn't admit
    std::uint64_t seed_;
  };
};

static_assert(admission<probability>);

}  // namespace inlay::inline INLAY_ABI
