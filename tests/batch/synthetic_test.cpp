#include <inlay/batch/synthetic.hpp>

#include "files.hpp"

#include <inlay/model/auc.hpp>
#include <inlay/testing/source_laws.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

using inlay::synthetic;

namespace {

struct labelled {
  std::vector<float> logits;
  std::vector<float> labels;
  double rate = 0;
};

labelled first_rows(synthetic const& source, std::uint64_t count) {
  labelled result;
  for (std::uint64_t sample = 0; sample < count; ++sample) {
    result.logits.push_back(static_cast<float>(source.logit(sample)));
    result.labels.push_back(source.row(sample).label());
    result.rate += static_cast<double>(result.labels.back()) / static_cast<double>(count);
  }
  return result;
}

double deviation(std::vector<float> const& values) {
  double sum = 0;
  double square = 0;
  for (auto const value : values) {
    sum += static_cast<double>(value);
    square += static_cast<double>(value) * static_cast<double>(value);
  }
  auto const count = static_cast<double>(values.size());
  return std::sqrt(square / count - sum / count * (sum / count));
}

}  // namespace

TEST_CASE("synthetic: the oracle ranks about as well as it was measured to") {
  // .831 to .839 was measured over five seeds of another implementation. Here forty seeds at 100k
  // rows have a mean of .8348 and a deviation of .0063, so one seed may lie outside, the mean of
  // many not.
  constexpr std::uint64_t rows = 10'000;
  constexpr std::uint64_t seeds = 20;
  double oracles = 0;
  double rates = 0;
  for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
    auto const data = first_rows(synthetic{{.rows = rows, .seed = seed}}, rows);
    auto const oracle = inlay::auc(data.logits, data.labels);
    CHECK(oracle > .80);
    CHECK(oracle < .87);
    oracles += oracle / seeds;
    rates += data.rate / seeds;
  }
  CHECK(oracles > .831);
  CHECK(oracles < .839);
  CHECK(rates == doctest::Approx(.25).epsilon(.02));
}

TEST_CASE("synthetic: a sample does not depend on how many there are") {
  synthetic const small{{.rows = 10}};
  synthetic const large{{.rows = 1'000'000'000'000}};
  for (std::uint64_t sample = 0; sample < small.size(); ++sample) {
    CHECK(small.row(sample).categories == large.row(sample).categories);
    CHECK(small.row(sample).integers == large.row(sample).integers);
    CHECK(small.row(sample).flags == large.row(sample).flags);
    CHECK(small.logit(sample) == large.logit(sample));
  }
  CHECK(synthetic{{.seed = 2}}.row(0).categories != small.row(0).categories);
}

TEST_CASE("synthetic: it keeps the laws of a source") {
  inlay::check_source_laws(synthetic{});
  inlay::check_source_laws(synthetic{{.rows = 0}});
}

TEST_CASE("synthetic: each term alone has the deviation asked for, and none gives the base rate") {
  constexpr std::uint64_t rows = 20'000;
  auto const alone = [](inlay::signal_options const& signal) {
    return deviation(first_rows(synthetic{{.signal = signal}}, rows).logits);
  };
  CHECK(alone({.linear = 2, .interactions = 0, .integers = 0}) == doctest::Approx(2).epsilon(.001));
  CHECK(alone({.linear = 0, .interactions = 2, .integers = 0}) == doctest::Approx(2).epsilon(.001));
  CHECK(alone({.linear = 0, .interactions = 0, .integers = 2}) == doctest::Approx(2).epsilon(.001));
  CHECK(alone({.pairs = 0, .linear = 0, .integers = 0}) < 1e-5);
  CHECK(alone({.pairs = 55, .rank = 5, .linear = 0, .integers = 0}) ==
        doctest::Approx(1.3).epsilon(.001));

  inlay::signal_options const none{.click_rate = .1, .linear = 0, .interactions = 0, .integers = 0};
  synthetic const flat{{.signal = none}};
  CHECK(flat.logit(0) == doctest::Approx(std::log(.1 / .9)));
  CHECK(first_rows(flat, rows).rate == doctest::Approx(.1).epsilon(.1));
}

TEST_CASE("synthetic: settings without a meaning are refused in words") {
  auto const sentence = [](inlay::synthetic_options const& options) {
    return sentence_of([&] { synthetic const source(options); });
  };
  CHECK(sentence({.signal = {.pairs = 56}}) ==
        "there are at most 55 pairs of fields that can interact");
  CHECK(sentence({.signal = {.click_rate = 0}}) == "the click rate must lie between 0 and 1");
  CHECK(sentence({.signal = {.linear = -1}}) ==
        "the deviation of a term of the signal must not be negative");
  CHECK(sentence({.scale = 2}) == "the scale of synthetic data must lie above 0 and up to 1");

  inlay::batch content;
  std::vector<std::uint64_t> const beyond{5};
  CHECK(sentence_of([&] { synthetic{{.rows = 5}}.read(beyond, content); }) ==
        "a sample beyond the rows of the synthetic data was asked for");
}
