#pragma once

#include <inlay/core/config.hpp>

#include <concepts>
#include <cstddef>
#include <string_view>

namespace inlay::inline INLAY_ABI {

/// How the rows of a bag become one: their weighted sum times a factor that the bag decides.
/// Forward and backward use the same factor, so each is the other's adjoint.
template <class T>
concept pooling = std::copyable<T> && requires(T const pooling, std::size_t ids, float weight_sum) {
  { T::name } -> std::convertible_to<std::string_view>;  // by which a table chooses it
  { pooling.factor(ids, weight_sum) } -> std::same_as<float>;
};

/// The weighted sum of a bag's rows; zero for an empty bag.
struct sum {
  static constexpr char const* name = "sum";

  [[nodiscard]] INLAY_HD constexpr float factor(std::size_t, float) const noexcept { return 1.0F; }
};

/// The weighted mean of a bag's rows; zero for an empty bag, or where the weights add up to zero.
struct mean {
  static constexpr char const* name = "mean";

  [[nodiscard]] INLAY_HD constexpr float factor(std::size_t, float weight_sum) const noexcept {
    return weight_sum == 0.0F ? 0.0F : 1.0F / weight_sum;
  }
};

static_assert(pooling<sum>);
static_assert(pooling<mean>);

}  // namespace inlay::inline INLAY_ABI
