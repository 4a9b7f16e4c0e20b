#pragma once

#include <inlay/batch/batch_view.hpp>
#include <inlay/core/buffer.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/views.hpp>

#include <cmath>
#include <cstddef>
#include <limits>
#include <string>
#include <utility>

namespace inlay::inline INLAY_ABI {

/// What a loss says of some rows. It converts to its gradients, so that it goes straight into
/// `backward`.
struct log_loss_result {
  double sum = 0;     ///< over rows, each times its weight
  double weight = 0;  ///< sum of the rows' weights
  span<float const>
      gradients;  ///< (rows) of `sum` by the logits, until the loss object's next call

  /// Over rows, by weight.
  [[nodiscard]] double mean() const noexcept { return sum / weight; }
  /// So that it goes straight into `backward`.
  operator span<float const>() const noexcept { return gradients; }
};

namespace detail {

struct point_loss {
  double loss = 0;
  double gradient = 0;
};

/// -y log s(z) - (1 - y) log(1 - s(z)) and its derivative s(z) - y, s the logistic function.
///
/// exp is taken of -|z| only, so nothing overflows, and s(z) - 1 is never formed by cancellation. A
/// term with factor zero is left out: an infinite logit on the right side has loss 0, not 0 times
/// infinity.
[[nodiscard]] inline point_loss log_loss_at(double logit, double label) noexcept {
  auto const away = logit < 0 ? label : 1 - label;  // how much of the label lies on the other side
  auto const tail = std::exp(-std::abs(logit));
  auto const small = tail / (1 + tail);
  auto const large = 1 / (1 + tail);
  auto const distance = away == 0 ? 0.0 : away * std::abs(logit);
  auto const slope = away * large - (1 - away) * small;
  return {distance + std::log1p(tail), logit < 0 ? -slope : slope};
}

inline void expects_label(float label, std::size_t row) {
  if (!(label >= 0.0F && label <= 1.0F)) [[unlikely]] {
    fail("label " + std::to_string(label) + " of row " + std::to_string(row) +
         " is not between 0 and 1");
  }
}

}  // namespace detail

/// Log loss of logits, in double; holds the gradients of its last call. One object per worker.
///
/// Gradients are of the sum over rows, (s(logit) - label) x weight: the engine divides once by the
/// global batch. A row of weight zero has gradient zero whatever its logit. NaN stays NaN; infinite
/// logits have the loss's limits. A label outside [0, 1] is an error.
class log_loss {
 public:
  /// Sums and gradients of some rows. Throws for labels outside [0, 1]. // logits (rows)
  [[nodiscard]] log_loss_result operator()(span<float const> logits, labels_view labels) {
    expects(logits.size() == labels.values.size(), "the loss needs one label for each logit");
    expects(labels.weights.empty() || labels.weights.size() == logits.size(),
            "the loss needs one weight for each logit, or none at all");
    gradients_.resize(logits.size());
    log_loss_result result;
    for (std::size_t row = 0; row < logits.size(); ++row) {
      double const weight = labels.weights.empty() ? 1.0F : labels.weights[row];
      if (weight == 0) {
        gradients_[row] = 0.0F;
        continue;
      }
      detail::expects_label(labels.values[row], row);
      auto const at = detail::log_loss_at(logits[row], labels.values[row]);
      gradients_[row] = static_cast<float>(weight * at.gradient);
      result.sum += weight * at.loss;
      result.weight += weight;
    }
    seen_.sum += result.sum;
    seen_.weight += result.weight;
    result.gradients = std::as_const(gradients_).view();
    return result;
  }

  /// Sum and weight over all calls since the last `take`, without gradients: a progress line's
  /// train loss.
  [[nodiscard]] log_loss_result take() noexcept { return std::exchange(seen_, {}); }

 private:
  buffer<float> gradients_;  // (rows)
  log_loss_result seen_;
};

/// Mean log loss of unweighted rows; NaN where there are none.
[[nodiscard]] inline double mean_log_loss(span<float const> logits, span<float const> labels) {
  expects(logits.size() == labels.size(), "the loss needs one label for each logit");
  double sum = 0;
  for (std::size_t row = 0; row < logits.size(); ++row) {
    detail::expects_label(labels[row], row);
    sum += detail::log_loss_at(logits[row], labels[row]).loss;
  }
  return logits.empty() ? std::numeric_limits<double>::quiet_NaN()
                        : sum / static_cast<double>(logits.size());
}

/// Mean log loss of the best constant, the share of positives: what any model must beat. NaN where
/// there are no rows, 0 where all labels are alike.
[[nodiscard]] inline double base_log_loss(span<float const> labels) {
  double positives = 0;
  for (std::size_t row = 0; row < labels.size(); ++row) {
    detail::expects_label(labels[row], row);
    positives += labels[row];
  }
  auto const rate = positives / static_cast<double>(labels.size());
  auto const part = [](double share) { return share == 0 ? 0.0 : -share * std::log(share); };
  return part(rate) + part(1 - rate);
}

}  // namespace inlay::inline INLAY_ABI
