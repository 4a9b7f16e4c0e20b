#include <inlay/batch/batch.hpp>

#include "files.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <utility>
#include <vector>

using inlay::batch;
using inlay::batch_view;
using inlay::raw_id;

namespace {

/// Two fields of two rows, one id each, one dense feature.
batch small() {
  batch content;
  content.reset({.rows = 2, .fields = 2, .dense_width = 1});
  for (std::size_t at = 0; at < 4; ++at) {
    content.ids()[at] = 10 + at;
  }
  content.dense().row(0)[0] = 0.5F;
  content.dense().row(1)[0] = 1.5F;
  content.labels()[0] = 0.0F;
  content.labels()[1] = 1.0F;
  return content;
}

template <class Values>
auto listed(Values const& values) {
  return std::vector(values.begin(), values.end());
}

}  // namespace

TEST_CASE("batch: one id a bag has offsets that count up") {
  auto const content = small();
  auto const view = content.view();
  check(view);
  CHECK(listed(view.offsets) == std::vector<std::uint32_t>{0, 1, 2, 3, 4});
  CHECK(listed(view.ids) == std::vector<raw_id>{10, 11, 12, 13});
  CHECK(view.ids[view.offsets[view.bag(1, 0)]] == 12);
  CHECK(view.dense.row(1)[0] == 1.5F);
  CHECK(listed(view.labels) == std::vector<float>{0, 1});
  CHECK(view.weights.empty());
}

TEST_CASE("batch: it can be refilled smaller, larger and multi-hot in turn") {
  auto content = small();
  for (std::size_t const rows : {1U, 700U, 0U, 3U}) {
    content.reset({.rows = rows, .fields = 3});
    for (auto& id : content.ids()) {
      id = 1;
    }
    auto const view = std::as_const(content).view();
    check(view);
    CHECK(view.offsets.size() == 3 * rows + 1);
    CHECK(view.offsets[3 * rows] == 3 * rows);
    CHECK(view.labels.size() == rows);

    content.reset_bags({.rows = 1, .fields = 2});
    content.add_bag(std::vector<raw_id>{});
    content.add_bag(std::vector<raw_id>{7, 8, 9});
    auto const bags = std::as_const(content).view();
    check(bags);
    CHECK(listed(bags.offsets) == std::vector<std::uint32_t>{0, 0, 3});
    CHECK(listed(bags.ids) == std::vector<raw_id>{7, 8, 9});
  }
}

TEST_CASE("batch: an id without a weight beside weighted ones counts one") {
  batch content;
  content.reset_bags({.rows = 2, .fields = 2});
  content.add_bag(std::vector<raw_id>{1, 2});
  content.add_bag(std::vector<raw_id>{3}, std::vector<float>{0.5F});
  content.add_bag(std::vector<raw_id>{4, 5});
  content.add_bag(std::vector<raw_id>{}, std::vector<float>{});
  auto const view = std::as_const(content).view();
  check(view);
  CHECK(listed(view.weights) == std::vector<float>{1, 1, 0.5F, 1, 1});

  content.reset_bags({.rows = 1, .fields = 1});
  content.add_bag(std::vector<raw_id>{6});
  CHECK(std::as_const(content).view().weights.empty());
}

TEST_CASE("batch: zero rows are legal, zero fields are not") {
  batch content;
  content.reset({.rows = 0, .fields = 4, .dense_width = 2});
  check(content.view());
  CHECK(content.view().offsets.size() == 1);
  CHECK(sentence_of([&] { content.reset({.rows = 4}); }) == "a batch needs at least one field");
  CHECK(sentence_of([] { check(batch_view{}); }) == "a batch needs at least one field");
}

TEST_CASE("batch: bags that do not fit are refused in words") {
  batch content;
  content.reset_bags({.rows = 1, .fields = 1});
  CHECK(sentence_of([&] { content.add_bag(std::vector<raw_id>{1, 2}, std::vector<float>{1}); }) ==
        "a bag needs as many weights as ids");
  content.add_bag(std::vector<raw_id>{1});
  CHECK(sentence_of([&] { content.add_bag(std::vector<raw_id>{2}); }) ==
        "a batch has fields * rows bags, no more");
  content.reset({.rows = 1, .fields = 1});
  CHECK(sentence_of([&] { content.add_bag(std::vector<raw_id>{2}); }) ==
        "bags are added after reset_bags only");
  CHECK(sentence_of([&] { content.reset({.rows = 1U << 31U, .fields = 2}); }) ==
        "a batch of 2147483648 rows and 2 fields has more than 2^32-1 bags");
}

TEST_CASE("batch: a batch that lacks bags does not pass the check") {
  batch content;
  content.reset_bags({.rows = 2, .fields = 1});
  content.add_bag(std::vector<raw_id>{1});
  CHECK(sentence_of([&] { check(content.view()); }) ==
        "a batch of 2 rows and 1 fields needs 3 offsets, not 2");
}

TEST_CASE("batch: a view whose parts do not fit each other is refused with a sentence") {
  auto const content = small();
  std::vector<std::uint32_t> offsets{0, 1, 2, 3, 4};
  auto view = content.view();
  view.offsets = offsets;
  auto const sentence = [&] { return sentence_of([&] { check(view); }); };
  CHECK(sentence().empty());

  SUBCASE("offsets descend") {
    offsets[2] = 0;
    CHECK(sentence() == "offsets of a batch must ascend; bag 1 ends at 0, before it begins at 1");
  }
  SUBCASE("offsets do not begin at 0") {
    offsets[0] = 1;
    CHECK(sentence() == "the first offset of a batch must be 0");
  }
  SUBCASE("offsets end elsewhere than the ids") {
    offsets[4] = 9;
    CHECK(sentence() == "the last offset of a batch must be its number of ids, 4, not 9");
  }
  SUBCASE("no offsets at all") {
    view.offsets = {};
    CHECK(sentence() == "a batch of 2 rows and 2 fields needs 5 offsets, not 0");
  }
  SUBCASE("weights are too few") {
    view.weights = view.labels;
    CHECK(sentence() == "a batch needs a weight for each id, or none");
  }
  SUBCASE("labels are too few") {
    view.labels = view.labels.first(1);
    CHECK(sentence() == "a batch needs a label for each row, or none");
  }
  SUBCASE("no labels are legal") {
    view.labels = {};
    CHECK(sentence().empty());
  }
  SUBCASE("dense rows are too few") {
    view.dense.rows = 1;
    CHECK(sentence() == "the dense features of a batch need as many rows as it has");
  }
  SUBCASE("dense features point nowhere") {
    view.dense.data = nullptr;
    CHECK(sentence() == "the dense features of a batch point nowhere");
  }
  SUBCASE("dense rows overlap") {
    view.dense.stride = 0;
    CHECK(sentence() == "rows of dense features overlap: the stride is below the width");
  }
  SUBCASE("more ids than 32 bits can count") {
    // Only its size is looked at.
    view.ids = {view.ids.data(), std::size_t{1} << 32U};
    CHECK(sentence() == "a batch holds at most 2^32-1 ids, this one 4294967296");
  }
}
