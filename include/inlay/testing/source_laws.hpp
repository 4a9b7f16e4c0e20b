#pragma once

#include <inlay/batch/batch.hpp>
#include <inlay/batch/batch_source.hpp>
#include <inlay/batch/batch_view.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/random.hpp>
#include <inlay/core/views.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace inlay::inline INLAY_ABI {

namespace detail {

[[nodiscard]] inline batch_view read_samples(batch_source auto const& source,
                                             std::vector<std::uint64_t> const& samples,
                                             batch& into) {
  source.read({samples.data(), samples.size()}, into);
  return std::as_const(into).view();
}

/// Samples drawn with repetitions, from all over the source.
[[nodiscard]] inline std::vector<std::uint64_t> some_samples(std::uint64_t available,
                                                             std::size_t count,
                                                             std::uint64_t seed) {
  std::vector<std::uint64_t> samples;
  for (std::size_t at = 0; at < count && available > 0; ++at) {
    samples.push_back(random_stream{seed}.bits(at) % available);
  }
  return samples;
}

[[nodiscard]] inline bool same_bag(batch_view const& left, std::size_t left_bag,
                                   batch_view const& right, std::size_t right_bag) {
  auto const left_first = left.offsets[left_bag];
  auto const right_first = right.offsets[right_bag];
  auto const count = left.offsets[left_bag + 1] - left_first;
  if (count != right.offsets[right_bag + 1] - right_first) {
    return false;
  }
  auto const weight = [](batch_view const& view, std::size_t at) {
    return view.weights.empty() ? 1.0F : view.weights[at];
  };
  for (std::size_t at = 0; at < count; ++at) {
    if (left.ids[left_first + at] != right.ids[right_first + at] ||
        weight(left, left_first + at) != weight(right, right_first + at)) {
      return false;
    }
  }
  return true;
}

/// True when row `left_row` of one batch has the content of row `right_row` of another.
[[nodiscard]] inline bool same_row(batch_view const& left, std::size_t left_row,
                                   batch_view const& right, std::size_t right_row) {
  for (std::size_t field = 0; field < left.fields; ++field) {
    if (!same_bag(left, left.bag(field, left_row), right, right.bag(field, right_row))) {
      return false;
    }
  }
  auto const left_dense = left.dense.row(left_row);
  auto const right_dense = right.dense.row(right_row);
  return std::equal(left_dense.begin(), left_dense.end(), right_dense.begin(), right_dense.end()) &&
         left.labels.empty() == right.labels.empty() &&
         (left.labels.empty() || left.labels[left_row] == right.labels[right_row]);
}

inline void expect_same_row(batch_view const& left, std::size_t left_row, batch_view const& right,
                            std::size_t right_row, std::uint64_t sample, char const* law) {
  if (!same_row(left, left_row, right, right_row)) {
    fail("a source must give sample " + std::to_string(sample) + " the same content " + law);
  }
}

inline constexpr std::size_t law_samples = 300;

}  // namespace detail

/// Law: what is read has as many rows as samples were asked for, the fields and the dense features
/// that the source claims, and parts that fit each other; reading none is legal.
void check_source_shape(batch_source auto const& source, std::uint64_t seed) {
  batch content;
  for (auto const count : {std::size_t{0}, std::size_t{1}, detail::law_samples}) {
    auto const samples = detail::some_samples(source.size(), count, seed);
    auto const view = detail::read_samples(source, samples, content);
    check(view);
    expects(view.rows == samples.size(),
            "a source must read as many rows as samples are asked of it");
    expects(view.fields == source.fields(),
            "a source must read as many fields as it claims to have");
    expects(view.dense.cols == source.dense_width(),
            "a source must read as many dense features as it claims to have");
  }
}

/// Law: reading twice gives the same, whatever the batch held before.
void check_source_repeats(batch_source auto const& source, std::uint64_t seed) {
  auto const samples = detail::some_samples(source.size(), detail::law_samples, seed);
  batch first;
  batch second;
  auto const once = detail::read_samples(source, samples, first);
  check(detail::read_samples(source, detail::some_samples(source.size(), 7, seed + 1), second));
  auto const again = detail::read_samples(source, samples, second);
  for (std::size_t row = 0; row < samples.size(); ++row) {
    detail::expect_same_row(once, row, again, row, samples[row], "each time it is read");
  }
}

/// Law: rows come in the order asked for.
void check_source_order(batch_source auto const& source, std::uint64_t seed) {
  auto samples = detail::some_samples(source.size(), detail::law_samples, seed);
  batch first;
  batch second;
  auto const forward = detail::read_samples(source, samples, first);
  std::reverse(samples.begin(), samples.end());
  auto const backward = detail::read_samples(source, samples, second);
  for (std::size_t row = 0; row < samples.size(); ++row) {
    detail::expect_same_row(forward, samples.size() - 1 - row, backward, row, samples[row],
                            "wherever in a batch it is asked for");
  }
}

/// Law: a sample's content does not depend on which others are read with it.
void check_source_grouping(batch_source auto const& source, std::uint64_t seed) {
  auto const samples = detail::some_samples(source.size(), detail::law_samples, seed);
  batch first;
  batch second;
  auto const whole = detail::read_samples(source, samples, first);
  for (auto const length : {std::size_t{1}, std::size_t{7}, std::size_t{64}}) {
    for (std::size_t begin = 0; begin < samples.size(); begin += length) {
      auto const end = std::min(begin + length, samples.size());
      auto const part =
          detail::read_samples(source, {&samples[begin], &samples[begin] + (end - begin)}, second);
      for (auto row = begin; row < end; ++row) {
        detail::expect_same_row(whole, row, part, row - begin, samples[row],
                                "whichever samples are read with it");
      }
    }
  }
}

/// Law: threads read side by side what one reads alone.
void check_source_threads(batch_source auto const& source, std::uint64_t seed) {
  auto const samples = detail::some_samples(source.size(), detail::law_samples, seed);
  batch alone;
  auto const expected = detail::read_samples(source, samples, alone);
  std::array<std::exception_ptr, 3> failures;
  std::vector<std::thread> threads;
  for (auto& failure : failures) {
    threads.emplace_back([&] {
      try {
        batch content;
        auto const view = detail::read_samples(source, samples, content);
        for (std::size_t row = 0; row < samples.size(); ++row) {
          detail::expect_same_row(expected, row, view, row, samples[row],
                                  "to threads that read side by side");
        }
      } catch (...) {
        failure = std::current_exception();
      }
    });
  }
  for (auto& thread : threads) {
    thread.join();
  }
  for (auto const& failure : failures) {
    if (failure) {
      std::rethrow_exception(failure);
    }
  }
}

/// Checks all laws of `batch_source` on a few hundred samples drawn by `seed`; throws `error` with
/// the law that does not hold.
void check_source_laws(batch_source auto const& source, std::uint64_t seed = 1) {
  check_source_shape(source, seed);
  check_source_repeats(source, seed);
  check_source_order(source, seed);
  check_source_grouping(source, seed);
  check_source_threads(source, seed);
}

}  // namespace inlay::inline INLAY_ABI
