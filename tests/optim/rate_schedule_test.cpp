#include <inlay/optim/rate_schedule.hpp>

#include <inlay/core/error.hpp>
#include <inlay/optim/constant_rate.hpp>
#include <inlay/optim/cosine_decay.hpp>
#include <inlay/optim/inverse_root_decay.hpp>
#include <inlay/optim/linear_decay.hpp>
#include <inlay/optim/step_decay.hpp>
#include <inlay/testing/rate_schedule_laws.hpp>

#include <doctest/doctest.h>

#include <cstdint>

namespace {

using inlay::testing::check_rate_schedule;

TEST_CASE("rate schedules: the law holds for all") {
  for (std::uint64_t const warm_up : {0ULL, 1ULL, 100ULL, 1'000'000'000ULL}) {
    CAPTURE(warm_up);
    check_rate_schedule(inlay::constant_rate{.warm_up = warm_up});
    check_rate_schedule(inlay::linear_decay{.warm_up = warm_up, .end = warm_up + 1});
    check_rate_schedule(
        inlay::linear_decay{.warm_up = warm_up, .end = 2'000'000'000, .last = 0.1F});
    check_rate_schedule(
        inlay::cosine_decay{.warm_up = warm_up, .end = 2'000'000'000, .last = 0.1F});
    check_rate_schedule(inlay::cosine_decay{.warm_up = warm_up, .end = warm_up + 7});
    check_rate_schedule(inlay::inverse_root_decay{.warm_up = warm_up + 1});
    check_rate_schedule(inlay::step_decay{.warm_up = warm_up, .every = 10, .ratio = 0.9F});
    check_rate_schedule(inlay::step_decay{.warm_up = warm_up, .every = 1, .ratio = 1.0F});
  }
}

TEST_CASE("rate schedules: a warm-up is a line from zero to one, whatever follows") {
  auto const check = [](auto const& schedule) {
    for (std::uint64_t samples = 0; samples < 1000; samples += 50) {
      CHECK(schedule.factor(samples) == static_cast<float>(static_cast<double>(samples) / 1000.0));
    }
    CHECK(schedule.factor(1000) == 1.0F);
  };
  check(inlay::constant_rate{.warm_up = 1000});
  check(inlay::linear_decay{.warm_up = 1000, .end = 5000});
  check(inlay::cosine_decay{.warm_up = 1000, .end = 5000});
  check(inlay::inverse_root_decay{.warm_up = 1000});
  check(inlay::step_decay{.warm_up = 1000, .every = 5000});
}

TEST_CASE("rate schedules: each falls as its name says") {
  CHECK(inlay::constant_rate{}.factor(0) == 1.0F);
  CHECK(inlay::constant_rate{}.factor(~std::uint64_t{0}) == 1.0F);

  inlay::linear_decay const line{.warm_up = 100, .end = 500, .last = 0.2F};
  CHECK(line.factor(200) == doctest::Approx(0.8));
  CHECK(line.factor(300) == doctest::Approx(0.6));
  CHECK(line.factor(500) == 0.2F);
  CHECK(line.factor(1'000'000) == 0.2F);

  inlay::cosine_decay const wave{.warm_up = 100, .end = 500, .last = 0.2F};
  CHECK(wave.factor(200) == doctest::Approx(0.2 + 0.8 * 0.853553));
  CHECK(wave.factor(300) == doctest::Approx(0.6));
  CHECK(wave.factor(500) == 0.2F);

  inlay::inverse_root_decay const root{.warm_up = 100};
  CHECK(root.factor(400) == doctest::Approx(0.5));
  CHECK(root.factor(10'000) == doctest::Approx(0.1));

  inlay::step_decay const steps{.every = 100, .ratio = 0.1F};
  CHECK(steps.factor(99) == 1.0F);
  CHECK(steps.factor(100) == doctest::Approx(0.1));
  CHECK(steps.factor(299) == doctest::Approx(0.01));
}

TEST_CASE("rate schedules: knobs without sense are refused") {
  CHECK_THROWS_WITH_AS(inlay::linear_decay{}.check(), doctest::Contains("end after its warm-up"),
                       inlay::error);
  CHECK_THROWS_AS((inlay::cosine_decay{.warm_up = 5, .end = 5}.check()), inlay::error);
  CHECK_THROWS_AS((inlay::cosine_decay{.end = 5, .last = 2.0F}.check()), inlay::error);
  CHECK_THROWS_AS(inlay::step_decay{}.check(), inlay::error);
  CHECK_THROWS_AS((inlay::step_decay{.every = 5, .ratio = -1.0F}.check()), inlay::error);
  CHECK_THROWS_AS((inlay::inverse_root_decay{.warm_up = 0}.check()), inlay::error);
}

struct grows {
  void check() const {}
  [[nodiscard]] float factor(std::uint64_t samples) const noexcept {
    return 1e-9F * static_cast<float>(samples);
  }
};

TEST_CASE("rate schedule law: a breach is found and named") {
  CHECK_THROWS_WITH_AS(check_rate_schedule(grows{}), doctest::Contains("between zero and one"),
                       inlay::error);
}

}  // namespace
