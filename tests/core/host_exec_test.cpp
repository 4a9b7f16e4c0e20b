#include <inlay/core/host_exec.hpp>

#include <inlay/core/error.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using inlay::host_exec;

namespace {

/// For every item how often it was run.
class tally {
 public:
  explicit tally(std::size_t count) : times_(count) {}
  void note(std::size_t item) { ++times_.at(item); }
  [[nodiscard]] bool all_once() const {
    for (auto const& times : times_) {
      if (times != 1) return false;
    }
    return true;
  }

 private:
  std::vector<std::atomic<int>> times_;
};

}  // namespace

TEST_CASE("host_exec: runs every item once, for any count and threads") {
  for (std::size_t threads : {1U, 2U, 3U, 8U}) {
    host_exec const exec(threads);
    CHECK(exec.threads() == threads);
    for (std::size_t count : {0U, 1U, 2U, 3U, 7U, 8U, 9U, 1000U}) {
      CAPTURE(threads);
      CAPTURE(count);
      tally items(count);
      exec.for_each(count, [&](std::size_t i) { items.note(i); });
      CHECK(items.all_once());
    }
  }
}

TEST_CASE("host_exec: pieces cover the range once, each of the grain but the last") {
  host_exec const exec(3);
  constexpr auto huge = std::numeric_limits<std::size_t>::max();
  for (std::size_t count : {0U, 1U, 5U, 64U, 65U, 1000U}) {
    for (std::size_t grain :
         {std::size_t{0}, std::size_t{1}, std::size_t{2}, std::size_t{64}, std::size_t{999},
          std::size_t{1000}, std::size_t{1001}, huge / 2, huge - 1, huge}) {
      CAPTURE(count);
      CAPTURE(grain);
      tally items(count);
      std::atomic<bool> shaped = true;
      exec.for_pieces(count, grain, [&](std::size_t first, std::size_t last) {
        auto const whole = grain == 0 ? 1 : grain;
        if (first >= last || last > count || first % whole != 0 ||
            (last - first != whole && last != count)) {
          shaped = false;
        }
        for (auto i = first; i < last; ++i) {
          items.note(i);
        }
      });
      CHECK(shaped);
      CHECK(items.all_once());
    }
  }
}

TEST_CASE("host_exec: pieces of the end of a range as long as memory do not wrap") {
  host_exec const exec(2);
  constexpr auto huge = std::numeric_limits<std::size_t>::max();
  std::atomic<std::size_t> sum = 0;
  exec.for_pieces(huge, huge / 2 + 1,
                  [&](std::size_t first, std::size_t last) { sum += last - first; });
  CHECK(sum == huge);
}

TEST_CASE("host_exec: a worker's number is below the threads and one thread's at a time") {
  host_exec const exec(4);
  std::vector<std::atomic<int>> inside(exec.threads());
  std::vector<std::int64_t> own(exec.threads());  // no atomic: a shared worker would be a race
  std::atomic<bool> alone = true;
  for (int round = 0; round < 50; ++round) {
    exec.for_each_worker(200, [&](std::size_t, std::size_t worker) {
      if (inside.at(worker)++ != 0) alone = false;
      ++own[worker];
      --inside[worker];
    });
  }
  CHECK(alone);
  std::int64_t sum = 0;
  for (auto const one : own) {
    sum += one;
  }
  CHECK(sum == 50 * 200);
}

TEST_CASE("host_exec: a call from inside a task runs, at any depth") {
  host_exec const exec(3);
  host_exec const other(2);
  std::atomic<int> runs = 0;
  exec.for_each(5, [&](std::size_t) {
    exec.for_each(7, [&](std::size_t) {
      other.for_each(3, [&](std::size_t) { exec.for_each(2, [&](std::size_t) { ++runs; }); });
    });
  });
  CHECK(runs == 5 * 7 * 3 * 2);
}

TEST_CASE("host_exec: the exception of the lowest number travels, and all tasks run all the same") {
  for (std::size_t threads : {1U, 2U, 5U}) {
    host_exec const exec(threads);
    for (int round = 0; round < 40; ++round) {
      CAPTURE(threads);
      tally items(100);
      std::string caught;
      try {
        exec.for_each(100, [&](std::size_t i) {
          items.note(i);
          if (i % 10 == 3) throw std::runtime_error(std::to_string(i));
        });
      } catch (std::runtime_error const& thrown) {
        caught = thrown.what();
      }
      CHECK(caught == "3");
      CHECK(items.all_once());
    }
    std::atomic<int> runs = 0;
    exec.for_each(10, [&](std::size_t) { ++runs; });  // and it is of use afterwards
    CHECK(runs == 10);
  }
}

TEST_CASE("host_exec: an exception of a nested call is that of its task") {
  host_exec const exec(3);
  CHECK_THROWS_WITH(exec.for_each(4,
                                  [&](std::size_t outer) {
                                    exec.for_each(4, [&](std::size_t inner) {
                                      if (outer >= 1 && inner >= 2) {
                                        throw std::runtime_error(
                                            std::to_string(10 * outer + inner));
                                      }
                                    });
                                  }),
                    "12");
}

TEST_CASE("host_exec: several threads may call the same pool at once") {
  host_exec const exec(3);
  std::vector<std::thread> callers;
  std::atomic<int> failures = 0;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&, caller, mine = exec] {
      for (std::size_t round = 0; round < 100; ++round) {
        tally items(round);
        std::size_t caught = round;
        try {
          mine.for_each(round, [&](std::size_t i) {
            items.note(i);
            if (caller == 0 && i >= 5) throw i;
          });
        } catch (std::size_t number) {
          caught = number;
        }
        if (!items.all_once() || (caller == 0 && round > 5 && caught != 5)) ++failures;
      }
    });
  }
  for (auto& caller : callers) {
    caller.join();
  }
  CHECK(failures == 0);
}

TEST_CASE("host_exec: helpers take part when tasks wait for each other") {
  host_exec const exec(2);
  std::atomic<int> arrived = 0;
  exec.for_each(2, [&](std::size_t) {
    ++arrived;
    while (arrived < 2) {
      std::this_thread::yield();
    }
  });
  CHECK(arrived == 2);
}

TEST_CASE("host_exec: a call within a call of another pool knows its worker") {
  host_exec const outer(3);
  host_exec const inner(1);
  std::atomic<int> others{0};
  outer.for_each_worker(60, [&](std::size_t, std::size_t worker) {
    inner.for_each(2, [&](std::size_t) {
      outer.for_each_worker(2, [&](std::size_t, std::size_t again) {
        if (again != worker) ++others;
      });
    });
  });
  CHECK(others == 0);
}

TEST_CASE("host_exec: more threads than sense is an error in words") {
  CHECK_THROWS_WITH_AS(host_exec(static_cast<std::size_t>(-1)),
                       doctest::Contains("at most 65,536 threads"), inlay::error);
}

TEST_CASE("host_exec: no threads is an error in words") {
  CHECK_THROWS_WITH_AS(host_exec(0), doctest::Contains("at least one thread"), inlay::error);
}

TEST_CASE("host_exec: a call inside a task keeps the number of the worker that runs it") {
  host_exec const exec(3);
  std::vector<std::atomic<int>> in_use(3);
  std::atomic<int> clashes = 0;
  exec.for_each_worker(64, [&](std::size_t, std::size_t outer) {
    exec.for_each_worker(4, [&](std::size_t, std::size_t inner) {
      if (inner != outer || in_use[inner].fetch_add(1) != 0) ++clashes;
      in_use[inner].fetch_sub(1);
    });
  });
  CHECK(clashes == 0);
}
