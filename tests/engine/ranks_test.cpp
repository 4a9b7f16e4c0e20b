// Many ranks, as threads of one process, train as one does.

#include "engine/training.hpp"

#include <inlay/cache/lru.hpp>
#include <inlay/core/one_of.hpp>
#include <inlay/core/random.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/exchange/owner_all_to_all.hpp>
#include <inlay/exchange/pooled_all_to_all.hpp>
#include <inlay/exchange/run_ranks.hpp>
#include <inlay/exchange/thread_comm.hpp>
#include <inlay/exchange/virtual_all_reduce.hpp>
#include <inlay/exchange/virtual_gather_scatter.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace {

using doctest::Contains;
using inlay::error;
using inlay::fast_sums;
using inlay::fixed_sums;
using inlay::host_exec;
using inlay::lru;
using inlay::no_cache;
using inlay::self_comm;
using inlay::thread_comm;

/// Samples with up to two ids a bag, each a function of its position, so that anybody may read any
/// of them. Those of every other hundred have weights.
class drawn_stream {
 public:
  explicit drawn_stream(std::uint64_t samples) : samples_(samples) {}

  [[nodiscard]] std::uint64_t size() const { return samples_; }
  inlay::batch_view read(inlay::sample_range range) {
    content_.reset_bags({range.size(), 6, toy::dense_width});
    for (std::uint64_t field = 0; field < 6; ++field) {
      for (auto at = range.first; at < range.last; ++at) {
        add_bag(inlay::random_stream{inlay::mix(field, at)});
      }
    }
    for (auto at = range.first; at < range.last; ++at) {
      inlay::random_stream const random{inlay::mix(99, at)};
      content_.labels()[at - range.first] = static_cast<float>(random.bits(0) % 2);
      for (std::size_t k = 0; k < toy::dense_width; ++k) {
        content_.dense().row(at - range.first)[k] = random.normal(1 + k);
      }
    }
    return content_.view();
  }

 private:
  void add_bag(inlay::random_stream random) {
    inlay::raw_id ids[2];
    float weights[2];
    auto const count = random.bits(0) % 3;
    for (std::size_t i = 0; i < count; ++i) {
      auto const u = random.uniform_double(1 + i);
      ids[i] = static_cast<inlay::raw_id>(u * u * u * 300.0);
      weights[i] = 0.5F + random.uniform(3 + i);
    }
    content_.add_bag({ids, count}, {weights, count});
  }

  std::uint64_t samples_;
  inlay::batch content_;
};

struct setting {
  std::size_t batch = 700;
  std::size_t steps = 12;
  std::size_t cache_rows = 0;
  std::size_t prefetch = 0;
  std::size_t threads = 1;
  std::string exchange = "owner_all_to_all";
  std::string sums = "fixed";
};

constexpr std::uint64_t tested_samples = 150;

// Chosen at run time, so that there are few engines to compile.
using any_sums = inlay::one_of<fast_sums, fixed_sums>;
using any_exchange = inlay::one_of<inlay::owner_all_to_all, inlay::virtual_all_reduce,
                                   inlay::virtual_gather_scatter>;
std::vector<std::string> const exchanges{"owner_all_to_all", "virtual_all_reduce",
                                         "virtual_gather_scatter", "pooled_all_to_all"};

template <class Exchange, class Comm, class Cache>
auto parts_of(setting const& how, Exchange const& exchange, Comm const& comm, Cache const& cache) {
  return inlay::parts{
      .exec = host_exec(how.threads),
      .cache = cache,
      .exchange = exchange,
      .comm = comm,
      .optimizer = inlay::rowwise_adagrad{.learning_rate = 0.05F, .initial_accumulator = 0.01F},
      .sums = any_sums::named(how.sums)};
}

/// Parameters after training, and what evaluation sees then.
struct ranks_outcome {
  toy::outcome trained;
  std::vector<float> pooled;
  std::uint64_t sent_bytes = 0;

  [[nodiscard]] bool operator==(ranks_outcome const& other) const {
    return trained == other.trained && pooled == other.pooled;
  }
};

/// Trains as one rank.
template <class Parts>
ranks_outcome train_rank(setting const& how, Parts const& parts) {
  auto shape = toy::mixed_shape();
  shape.batch = how.batch;
  shape.cache_rows = how.cache_rows;
  shape.prefetch = how.prefetch;
  shape.deadline_s = 30.0;
  inlay::engine<Parts> trainer{shape, parts};
  toy::network net(toy::width_of(shape), toy::dense_width);
  net.attach_to(trainer);
  drawn_stream samples(how.steps * how.batch);
  while (auto step = trainer.next(samples)) {
    net.train_all(*step);
    trainer.finish(std::move(*step));
  }
  drawn_stream unseen(tested_samples);
  auto const seen = trainer.lookup(unseen.read({0, tested_samples})).pooled;
  std::vector<float> pooled(seen.data, seen.data + seen.size());
  trainer.flush();
  return {{toy::rows_of(trainer), net.all(), trainer.figures()},
          std::move(pooled),
          trainer.figures().sent_bytes};
}

template <class Cache>
ranks_outcome train_rank(setting const& how, thread_comm const& comm, Cache const& cache) {
  if (how.exchange == inlay::pooled_all_to_all::name) {
    return train_rank(how, parts_of(how, inlay::pooled_all_to_all{}, comm, cache));
  }
  return train_rank(how, parts_of(how, any_exchange::named(how.exchange), comm, cache));
}

/// Trains as many ranks, which must agree; the rows of all together.
template <class Cache>
ranks_outcome train_ranks(std::size_t count, setting const& how, Cache const& cache) {
  std::mutex lock;
  std::vector<ranks_outcome> all(count);
  inlay::run_ranks(count, [&](thread_comm const& comm) {
    auto mine = train_rank(how, comm, cache);
    std::lock_guard const guard(lock);
    all[comm.rank()] = std::move(mine);
  });
  auto& first = all[0];
  for (std::size_t rank = 1; rank < count; ++rank) {
    CHECK(all[rank].trained.dense == first.trained.dense);
    CHECK(all[rank].pooled == first.pooled);
    CHECK(all[rank].trained.figures.samples == first.trained.figures.samples);
    first.sent_bytes += all[rank].sent_bytes;
    for (auto const& [name, row] : all[rank].trained.rows) {
      CHECK(first.trained.rows.emplace(name, row).second);  // every row has one owner
    }
  }
  return first;
}

ranks_outcome train_alone(setting const& how) {
  return train_rank(how, parts_of(how, inlay::owner_all_to_all{}, self_comm{}, no_cache{}));
}

}  // namespace

TEST_CASE("engine: with fixed_sums any number of ranks and any exchange give one rank's bits") {
  // 100: one chunk, so most ranks have nothing. 700: six chunks, which no number of ranks divides.
  for (auto const batch : {100U, 700U, 1024U}) {
    setting how{.batch = batch, .steps = batch == 100 ? 30U : 12U};
    auto const alone = train_alone(how);
    for (auto const& exchange : exchanges) {
      for (auto const count : {1U, 2U, 3U, 4U}) {
        CAPTURE(exchange);
        CAPTURE(count);
        CAPTURE(batch);
        how.exchange = exchange;
        CHECK(train_ranks(count, how, no_cache{}) == alone);
      }
    }
  }
}

TEST_CASE("engine: ranks behind caches that prefetch give one rank's bits") {
  setting how{.batch = 300, .steps = 20};
  auto const alone = train_alone(how);
  how.cache_rows = 1500;
  how.threads = 2;
  for (auto const prefetch : {0U, 2U}) {
    how.prefetch = prefetch;
    for (auto const& exchange : exchanges) {
      CAPTURE(exchange);
      CAPTURE(prefetch);
      how.exchange = exchange;
      CHECK(train_ranks(2, how, lru{}) == alone);
    }
  }
}

TEST_CASE("engine: with fast_sums ranks differ from one by rounding, and not from run to run") {
  setting how{.batch = 301, .steps = 1, .sums = "fast"};
  auto const alone = train_alone(how);
  for (auto const& exchange : exchanges) {
    CAPTURE(exchange);
    how.exchange = exchange;
    for (auto const count : {2U, 3U}) {
      auto const many = train_ranks(count, how, no_cache{});
      CHECK(toy::distance(many.trained, alone.trained) < 1e-5);
      CHECK(train_ranks(count, how, no_cache{}) == many);
    }
  }
}

TEST_CASE("engine: an exchange chosen at run time is the one chosen at compile time") {
  setting how{.batch = 301, .steps = 4, .exchange = "virtual_gather_scatter", .sums = "fast"};
  auto const chosen = train_ranks(2, how, no_cache{});
  inlay::run_ranks(2, [&](thread_comm const& comm) {
    auto const fixed =
        train_rank(how, parts_of(how, inlay::virtual_gather_scatter{}, comm, no_cache{}));
    CHECK(fixed.trained.dense == chosen.trained.dense);
    CHECK(fixed.pooled == chosen.pooled);
  });
}

TEST_CASE("engine: a rank that throws while the others train ends the training of all") {
  setting const how{.batch = 300, .steps = 20};
  auto const train = [&](thread_comm const& comm) {
    auto shape = toy::mixed_shape();
    shape.batch = how.batch;
    inlay::engine trainer{shape,
                          parts_of(how, any_exchange::named(how.exchange), comm, no_cache{})};
    toy::network net(toy::width_of(shape), toy::dense_width);
    net.attach_to(trainer);
    drawn_stream samples(how.steps * how.batch);
    std::size_t steps = 0;
    while (auto step = trainer.next(samples)) {
      if (comm.rank() == 1 && ++steps == 5) inlay::fail("out of patience");
      net.train_all(*step);
      trainer.finish(std::move(*step));
    }
  };
  std::mutex lock;
  std::vector<std::string> heard;
  CHECK_THROWS_WITH_AS(inlay::run_ranks(3,
                                        [&](thread_comm const& comm) {
                                          try {
                                            train(comm);
                                          } catch (error const& wrong) {
                                            std::lock_guard const guard(lock);
                                            heard.push_back(wrong.sentence());
                                            throw;
                                          }
                                        }),
                       Contains("out of patience"), error);
  REQUIRE(heard.size() == 3);
  for (auto const& sentence : heard) {
    CHECK(sentence.find("out of patience") != std::string::npos);
  }
}

TEST_CASE("engine: a stream that fails on one rank is what all hear of, ahead of its step or not") {
  for (auto const prefetch : {0U, 2U}) {
    CAPTURE(prefetch);
    std::vector<std::size_t> steps(2);
    auto const train = [&](thread_comm const& comm) {
      auto shape = toy::mixed_shape();
      shape.batch = 300;
      shape.prefetch = prefetch;
      inlay::engine trainer{shape, parts_of({}, any_exchange{}, comm, no_cache{})};
      struct torn : drawn_stream {
        bool breaks;
        explicit torn(bool here) : drawn_stream(3000), breaks(here) {}
        inlay::batch_view read(inlay::sample_range range) {
          if (breaks && range.first >= 1500) inlay::fail("line 51 has 3 fields");
          return drawn_stream::read(range);
        }
      };
      torn samples(comm.rank() == 1);
      while (auto step = trainer.next(samples)) {
        for (auto chunk : step->chunks())
          chunk.backward(chunk.pooled());
        trainer.finish(std::move(*step));
        ++steps[comm.rank()];
      }
    };
    CHECK_THROWS_WITH_AS(inlay::run_ranks(2, train), Contains("line 51 has 3 fields"), error);
    CHECK(steps == std::vector<std::size_t>{5, 5});
  }
}

namespace {

/// Runs two ranks that each do something with an engine of their own, and returns what they heard.
template <class Body>
std::vector<std::string> sentences_of_two(std::size_t cache_rows, Body const& body,
                                          std::string const& sums = "fast") {
  std::vector<std::string> heard(2);
  try {
    inlay::run_ranks(2, [&](thread_comm const& comm) {
      auto shape = toy::mixed_shape();
      shape.deadline_s = 30.0;
      shape.cache_rows = cache_rows;
      setting const how{.sums = sums};
      auto const parts = parts_of(how, any_exchange{}, comm, lru{});
      inlay::engine trainer{shape, parts};
      try {
        body(trainer, comm.rank());
      } catch (error const& wrong) {
        heard[comm.rank()] = wrong.sentence();
        throw;
      }
    });
  } catch (error const&) {}
  return heard;
}

}  // namespace

TEST_CASE("engine: ranks that call in different order are told both calls") {
  auto const heard = sentences_of_two(2000, [](auto& trainer, std::size_t rank) {
    drawn_stream samples(600);
    auto const first = trainer.prefetch(samples.read({0, 100}));
    if (rank == 0) {
      auto const second = trainer.prefetch(samples.read({100, 200}));
    } else {
      static_cast<void>(trainer.lookup(samples.read({0, 100})));
    }
  });
  CHECK(heard[0].find("rank 0 calls prefetch number 1 where rank 1 calls lookup number 0") !=
        std::string::npos);
  CHECK(!heard[1].empty());
}

TEST_CASE("engine: ranks that drop different leases are told") {
  auto const heard = sentences_of_two(4000, [](auto& trainer, std::size_t rank) {
    drawn_stream samples(600);
    auto first = trainer.prefetch(samples.read({0, 100}));
    auto second = trainer.prefetch(samples.read({100, 200}));
    static_cast<void>(trainer.begin(std::move(rank == 0 ? first : second)));
  });
  CHECK(heard[0].find("begin number 0 where rank 1 calls begin number 1") != std::string::npos);
  CHECK(!heard[1].empty());
}

TEST_CASE("engine: what fails on one rank fails on all, and nothing stays pinned") {
  auto const heard = sentences_of_two(400, [](auto& trainer, std::size_t rank) {
    // Distinct rows of one width; together more than rank 1's part of them fits.
    auto const batch_of = [&](std::size_t rows) {
      inlay::batch content;
      content.reset({rows, 6, 0});
      for (std::size_t i = 0; i < 6 * rows; ++i) {
        content.ids()[i] = 100'000 * rank + i;
      }
      for (auto& label : content.labels())
        label = 0.0F;
      return content;
    };
    for (int round = 0; round < 3; ++round) {
      std::string sentence;
      try {
        static_cast<void>(trainer.begin(batch_of(200)));
      } catch (error const& wrong) {
        sentence = wrong.sentence();
      }
      CHECK((sentence.find("raise cache_rows") != std::string::npos ||
             sentence.find("could not do its part") != std::string::npos));
    }
    auto step = trainer.begin(batch_of(30));
    CHECK(step.rows() == 30);
    for (auto chunk : step.chunks())
      chunk.backward(chunk.pooled());
    trainer.finish(std::move(step));
    CHECK(trainer.figures().samples == 60);
  });
  CHECK(heard == std::vector<std::string>(2));
}

TEST_CASE("engine: a step that is finished on one rank without all gradients moves nothing") {
  auto const heard = sentences_of_two(2000, [](auto& trainer, std::size_t rank) {
    drawn_stream samples(600);
    auto step = trainer.begin(samples.read({0, 100}));
    auto const before = trainer.figures().samples;
    auto const give = [&] {
      for (auto chunk : step.chunks())
        chunk.backward(chunk.pooled());
    };
    if (rank == 0) give();
    std::string sentence;
    try {
      trainer.finish(std::move(step));
    } catch (error const& wrong) {
      sentence = wrong.sentence();
    }
    CHECK(sentence.find(rank == 0 ? "rank 1 could not do its part" : "had no backward") !=
          std::string::npos);
    CHECK(trainer.figures().samples == before);
    give();
    trainer.finish(std::move(step));
    CHECK(trainer.figures().samples == 200);
  });
  CHECK(heard == std::vector<std::string>(2));
}

TEST_CASE("engine: ranks that are not alike are told so") {
  for (int what = 0; what < 4; ++what) {
    CAPTURE(what);
    auto const train = [&](thread_comm const& comm) {
      auto shape = toy::mixed_shape();
      bool const other = comm.rank() == 1;
      if (other && what == 0) shape.seed = 78;
      if (other && what == 1) shape.batch = 600;
      if (other && what == 2) shape.tables[1].learning_rate_factor = 3.0F;
      setting how{};
      if (other && what == 3) how.exchange = "virtual_all_reduce";
      inlay::engine trainer{shape,
                            parts_of(how, any_exchange::named(how.exchange), comm, no_cache{})};
      drawn_stream samples(600);
      static_cast<void>(trainer.next(samples));
    };
    CHECK_THROWS_WITH_AS(inlay::run_ranks(2, train), Contains("differ in shape, parts"), error);
  }
}

TEST_CASE("engine: chunks that another number of ranks would cut otherwise are refused") {
  auto const heard = sentences_of_two(
      4000,
      [](auto& trainer, std::size_t rank) {
        drawn_stream samples(600);
        static_cast<void>(trainer.begin(samples.read({0, rank == 0 ? 128U : 72U})));
        static_cast<void>(trainer.begin(samples.read({0, rank == 0 ? 200U : 0U})));
        static_cast<void>(trainer.begin(samples.read({0, 100})));
      },
      "fixed");
  for (auto const& sentence : heard) {
    CHECK(sentence.find("multiple of 128 of them; rank 0 has 100") != std::string::npos);
  }
}

TEST_CASE("engine: a look-up that fails on one rank fails on all, and the next one goes well") {
  auto const heard = sentences_of_two(4000, [](auto& trainer, std::size_t rank) {
    inlay::batch content;
    content.reset({1, 6, 0});
    for (auto& id : content.ids())
      id = rank == 1 ? ~std::uint64_t{0} : 1;
    content.labels()[0] = 0.0F;
    std::string sentence;
    try {
      static_cast<void>(trainer.lookup(content));
    } catch (error const& wrong) {
      sentence = wrong.sentence();
    }
    CHECK(sentence.find(rank == 1 ? "does not fit" : "rank 1 could not") != std::string::npos);
    for (auto& id : content.ids())
      id = 7;
    CHECK(trainer.lookup(content).pooled.rows == 1);
  });
  CHECK(heard == std::vector<std::string>(2));
}

TEST_CASE("engine: a rank without samples forgets the sums of a step that was refused") {
  std::vector<float> ends(2);
  inlay::run_ranks(2, [&](thread_comm const& comm) {
    auto shape = inlay::shape::one_table_per_field(1, 1);
    setting const how{.sums = "fast"};
    inlay::engine trainer{shape, parts_of(how, any_exchange{}, comm, no_cache{})};
    float weight = 1.0F;
    float slope = 0.0F;
    inlay::matrix_view<float> const value{&weight, 1, 1};
    inlay::matrix_view<float const> const gradient{&slope, 1, 1};
    trainer.attach({&value, 1}, {&gradient, 1});
    inlay::batch content;
    content.reset({comm.rank() == 0 ? 2U : 0U, 1, 0});
    for (auto& id : content.ids())
      id = 1;
    for (auto& label : content.labels())
      label = 0.0F;
    auto step = trainer.begin(content);
    auto const finish = [&](float pooled) {
      for (auto chunk : step.chunks()) {
        slope = 1.0F;
        std::vector<float> const given(chunk.rows(), pooled);
        chunk.backward({given.data(), chunk.rows(), 1});
      }
      trainer.finish(std::move(step));
    };
    CHECK_THROWS_AS(finish(3e38F), error);
    finish(1.0F);
    ends[comm.rank()] = weight;
  });
  CHECK(ends[0] == ends[1]);
  CHECK(ends[0] == doctest::Approx(1.0 - 0.05 * 0.5 / std::sqrt(0.25 + 0.01)).epsilon(1e-4));
}
