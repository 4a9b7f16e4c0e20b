#include <inlay/engine/key_log.hpp>

#include "engine/training.hpp"

#include <inlay/cache/arc.hpp>
#include <inlay/cache/lfu.hpp>
#include <inlay/cache/lru.hpp>
#include <inlay/cache/s3_fifo.hpp>
#include <inlay/cache/sieve.hpp>
#include <inlay/cache/w_tiny_lfu.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/sim/batch_simulator.hpp>
#include <inlay/sim/read_key_log.hpp>
#include <inlay/sim/read_trace.hpp>
#include <inlay/vsid/wide.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

/// A file of that content, gone with the object.
class log_file {
 public:
  explicit log_file(std::string const& content)
      : path_((std::filesystem::temp_directory_path() / "inlay_key_log_test.keys").string()) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  log_file(log_file const&) = delete;
  log_file& operator=(log_file const&) = delete;
  ~log_file() { std::filesystem::remove(path_); }

  [[nodiscard]] std::string const& path() const { return path_; }

 private:
  std::string path_;
};

std::string written(inlay::key_log const& seen) {
  std::ostringstream out;
  seen.write(out);
  return out.str();
}

std::string complaint(std::string const& content) {
  log_file const file(content);
  try {
    static_cast<void>(inlay::read_trace(file.path()));
  } catch (inlay::error const& wrong) {
    auto const& sentence = wrong.sentence();
    // Behind the path in quotes, where there is one.
    return sentence.starts_with('\'') ? sentence.substr(file.path().size() + 3) : sentence;
  }
  return "none";
}

inlay::shape two_tables() {
  inlay::shape shape;
  shape.tables = {{.name = "user", .dim = 4}, {.name = "item", .dim = 4}};
  for (auto const table : {0, 1, 1}) {
    shape.field_tables.push_back(static_cast<inlay::table_id>(table));
  }
  return shape;
}

template <class Cache>
void check_replay(Cache const& cache, std::uint64_t seed) {
  CAPTURE(Cache::name);
  auto shape = two_tables();
  auto const batches = toy::some_batches(30, 40, seed, 3);
  shape.cache_rows = toy::smallest_cache(shape, batches) + 5;
  inlay::engine trainer(shape, inlay::parts{.cache = cache});
  inlay::key_log seen;
  trainer.attach(seen);
  for (auto const& content : batches) {
    auto step = trainer.begin(content);
    for (auto chunk : step.chunks()) {
      chunk.backward(chunk.pooled());
    }
    trainer.finish(std::move(step));
  }
  log_file const file(written(seen));
  auto const trace = inlay::read_trace(file.path());
  CHECK(trace.size() == seen.keys().size());
  CHECK(trace.batch_ends().size() == batches.size());
  auto const replayed = inlay::batch_simulator{.cache = cache, .capacity = shape.cache_rows}.replay(
      inlay::host_exec(1), trace);
  auto const figures = trainer.figures();
  CHECK(replayed.requests == figures.ids);
  CHECK(replayed.hits == figures.rows.hits);
  CHECK(replayed.misses == figures.rows.misses);
  CHECK(replayed.evictions == figures.rows.evictions);
  CHECK(replayed.evictions > 0);
}

}  // namespace

TEST_CASE("key_log: replayed, a training has its hits, misses and evictions, whatever the policy") {
  check_replay(inlay::lru{}, 1);
  check_replay(inlay::sieve{}, 2);
  check_replay(inlay::lfu{}, 3);
  check_replay(inlay::s3_fifo{}, 4);
  check_replay(inlay::arc{}, 5);
  check_replay(inlay::w_tiny_lfu{}, 6);
}

TEST_CASE("key_log: a step that does not fit is not in it") {
  auto shape = two_tables();
  auto const batches = toy::some_batches(2, 40, 7, 3);
  shape.cache_rows = 1;
  inlay::engine trainer(shape, inlay::parts{.cache = inlay::lru{}});
  inlay::key_log seen;
  trainer.attach(seen);
  CHECK_THROWS_AS(static_cast<void>(trainer.begin(batches[0])), inlay::error);
  CHECK(seen.keys().empty());
  CHECK(seen.batch_ends().empty());
}

TEST_CASE("key_log: it is of one width, which must be there, and of narrow keys") {
  auto shape = two_tables();
  shape.tables[1].dim = 8;
  inlay::engine trainer(shape, inlay::parts{});
  inlay::key_log any;
  inlay::key_log eight(8);
  inlay::key_log nine(9);
  CHECK_THROWS_WITH_AS(trainer.attach(any), doctest::Contains("differ in width"), inlay::error);
  CHECK_THROWS_WITH_AS(trainer.attach(nine), doctest::Contains("no table has the width"),
                       inlay::error);
  trainer.attach(eight);
  static_cast<void>(trainer.begin(toy::some_batches(1, 40, 7, 3)[0]));
  CHECK(eight.batch_ends().size() == 1);
  CHECK(std::all_of(eight.keys().begin(), eight.keys().end(), [](inlay::narrow::key key) {
    return inlay::index(inlay::narrow::table(key)) == 1;
  }));
  inlay::engine other(two_tables(), inlay::parts{.keys = inlay::wide{}});
  CHECK_THROWS_WITH_AS(other.attach(any), doctest::Contains("narrow"), inlay::error);
}

TEST_CASE("key_log: steps can be forgotten, the last one first") {
  inlay::key_log seen;
  std::vector<inlay::narrow::key> const some(1000, inlay::narrow::key{7});
  seen.add({some.data(), 10});
  seen.add({some.data(), 1000});
  seen.forget_step();
  CHECK(seen.keys().size() == 10);
  seen.forget_step();
  seen.forget_step();
  CHECK(seen.keys().empty());
}

TEST_CASE("key_log: a file of it that is cut, longer or something else is an error in words") {
  inlay::key_log seen;
  std::vector<inlay::narrow::key> const some{{1}, {2}, {1}};
  seen.add({some.data(), 2});
  seen.add({some.data(), 0});
  seen.add({some.data(), 3});
  auto const whole = written(seen);
  CHECK(whole.size() == 8 * (3 + 3 + 5));
  CHECK(complaint(whole) == "none");
  for (std::size_t size = 8; size < whole.size(); ++size) {
    CHECK(complaint(whole.substr(0, size)) == "is cut short");
  }
  CHECK(complaint("") == "is no log of keys: it does not begin with inlaykey");
  CHECK(complaint("inlaykez") == "is no log of keys: it does not begin with inlaykey");
  CHECK(complaint(whole + "x") == "goes on behind the last of its keys");
  auto broken = whole;
  broken[24] = 9;
  CHECK(complaint(broken) == "has a step that ends behind the last of its keys");
  broken = whole;
  broken[24] = 3;
  CHECK(complaint(broken).find("must ascend") != std::string::npos);
  broken = whole;
  broken[15] = 1;
  CHECK(complaint(broken) == "is too long: a trace holds at most 2^32 - 2 requests");
  CHECK(complaint(written(inlay::key_log())) == "is empty: a trace needs at least one request");
}
