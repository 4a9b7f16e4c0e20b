#pragma once

#include <inlay/batch/batch.hpp>
#include <inlay/core/views.hpp>

#include <concepts>
#include <cstddef>
#include <cstdint>

namespace inlay::inline INLAY_ABI {

/// Something with a number of samples, counted from 0.
template <class Source>
concept sized_source = requires(Source const& source) {
  { source.size() } -> std::convertible_to<std::uint64_t>;
};

/// Something whose samples all have the same fields and dense features.
template <class Source>
concept shaped_source = requires(Source const& source) {
  { source.fields() } -> std::convertible_to<std::size_t>;
  { source.dense_width() } -> std::convertible_to<std::size_t>;
};

/// Something that gathers any samples, in the order asked for.
template <class Source>
concept readable_source =
    requires(Source const& source, span<std::uint64_t const> samples, batch& into) {
      { source.read(samples, into) } -> std::same_as<void>;
    };

/// Samples to train on: a file, a generator, or a user's own.
///
/// `read` replaces what `into` held by exactly these samples, in this order, repetitions and none
/// at all included; several threads may call it at once. A sample's content depends on its number
/// alone, however samples are grouped. `testing/source_laws.hpp` checks this.
template <class Source>
concept batch_source = sized_source<Source> && shaped_source<Source> && readable_source<Source>;

/// A source that knows when each sample happened, in a unit of its own.
template <class Source>
concept timed_source =
    sized_source<Source> && requires(Source const& source, std::uint64_t sample) {
      { source.timestamp(sample) } -> std::convertible_to<std::int64_t>;
    };

}  // namespace inlay::inline INLAY_ABI
