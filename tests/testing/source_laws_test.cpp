#include <inlay/testing/source_laws.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <cstdint>
#include <string>

namespace {

/// Ids and labels that depend on the sample alone. The sources below break one law each.
struct honest_source {
  [[nodiscard]] std::uint64_t size() const { return 50; }
  [[nodiscard]] std::size_t fields() const { return 2; }
  [[nodiscard]] std::size_t dense_width() const { return 1; }

  void read(inlay::span<std::uint64_t const> samples, inlay::batch& into) const {
    auto const rows = samples.size();
    into.reset({.rows = rows, .fields = 2, .dense_width = 1});
    for (std::size_t at = 0; at < rows; ++at) {
      into.ids()[at] = samples[at];
      into.ids()[rows + at] = samples[at] % 7;
      into.dense().row(at)[0] = static_cast<float>(samples[at]);
      into.labels()[at] = static_cast<float>(samples[at] % 2);
    }
  }
};

struct one_row_less : honest_source {
  void read(inlay::span<std::uint64_t const> samples, inlay::batch& into) const {
    honest_source::read(samples.first(samples.size() - (samples.size() > 1 ? 1 : 0)), into);
  }
};

struct other_width : honest_source {
  [[nodiscard]] std::size_t dense_width() const { return 2; }
};

struct moody : honest_source {
  mutable std::atomic<std::uint64_t> calls = 0;
  void read(inlay::span<std::uint64_t const> samples, inlay::batch& into) const {
    honest_source::read(samples, into);
    if (!into.labels().empty()) {
      into.labels()[0] = static_cast<float>(++calls);
    }
  }
};

struct by_place : honest_source {
  void read(inlay::span<std::uint64_t const> samples, inlay::batch& into) const {
    honest_source::read(samples, into);
    for (std::size_t at = 0; at < samples.size(); ++at) {
      into.dense().row(at)[0] = static_cast<float>(at);
    }
  }
};

struct by_group : honest_source {
  void read(inlay::span<std::uint64_t const> samples, inlay::batch& into) const {
    honest_source::read(samples, into);
    for (auto& id : into.ids()) {
      id += samples.size();
    }
  }
};

std::string broken(inlay::batch_source auto const& source) {
  try {
    inlay::check_source_laws(source);
  } catch (inlay::error const& failure) {
    return failure.sentence();
  }
  return {};
}

bool ends(std::string const& sentence, std::string const& with) { return sentence.ends_with(with); }

}  // namespace

TEST_CASE("source laws: an honest source passes") { CHECK(broken(honest_source{}).empty()); }

TEST_CASE("source laws: a source that breaks one is told which") {
  CHECK(broken(one_row_less{}) == "a source must read as many rows as samples are asked of it");
  CHECK(broken(other_width{}) == "a source must read as many dense features as it claims to have");
  CHECK(ends(broken(moody{}), "the same content each time it is read"));
  CHECK(ends(broken(by_place{}), "the same content wherever in a batch it is asked for"));
  CHECK(ends(broken(by_group{}), "the same content whichever samples are read with it"));
}
