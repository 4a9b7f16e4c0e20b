// A cache policy of one's own in three homes: checked by the library's laws, plugged into a
// trainer, and replayed by the simulator on what that trainer asked for. The third home are the
// sets of a cache on a device: tests/smoke/set_replay_test.cpp.

#include "own_cache_policy.hpp"

#include "example_report.hpp"

#include <inlay/batch/loader.hpp>
#include <inlay/batch/split.hpp>
#include <inlay/batch/synthetic.hpp>
#include <inlay/cache/lru.hpp>
#include <inlay/core/error.hpp>
#include <inlay/core/host_exec.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/engine/key_log.hpp>
#include <inlay/model/log_loss.hpp>
#include <inlay/model/logistic_regression.hpp>
#include <inlay/sim/batch_simulator.hpp>
#include <inlay/sim/recorded.hpp>
#include <inlay/testing/cache_policy_laws.hpp>

namespace {

constexpr std::size_t cache_rows = 4'000;

/// Trains one epoch of logistic regression behind a cache and logs what it asks for.
template <class Policy>
inlay::row_traffic train(inlay::synthetic const& clicks, Policy policy, inlay::key_log& seen) {
  auto shape = inlay::shape::one_table_per_field(clicks.fields(), 1);
  shape.batch = 256;
  shape.cache_rows = cache_rows;
  auto trainer = inlay::engine{shape, inlay::parts{.cache = policy}};
  auto network = inlay::logistic_regression({clicks.fields(), clicks.dense_width()});
  auto loss = inlay::log_loss{};
  trainer.attach(network.parameters(), network.gradients());
  trainer.attach(seen);

  auto samples = inlay::loader(clicks, inlay::split_by_time(clicks).train);
  while (auto step = trainer.next(samples)) {
    for (auto chunk : step->chunks()) {
      auto const logits = network.forward(chunk.pooled(), chunk.dense());
      chunk.backward(network.backward(loss(logits, chunk.labels())));
    }
    trainer.finish(std::move(*step));
  }
  return trainer.figures().rows;
}

/// The same steps without a training: the policy alone decides about the same rows.
template <class Policy>
inlay::replayed replay(Policy policy, inlay::key_log const& seen) {
  return inlay::batch_simulator{.cache = policy, .capacity = cache_rows}.replay(
      inlay::host_exec(1), inlay::recorded(seen));
}

}  // namespace

int main(int argc, char** argv) {
  auto report = example_report("A cache policy of one's own beside LRU.", argc, argv);
  inlay::testing::check_cache_policy(own::slru{});
  report.add("laws", std::string("kept"));

  auto const clicks = inlay::synthetic({.rows = 50'000});
  inlay::key_log seen;
  auto const trained = train(clicks, own::slru{}, seen);
  auto const simulated = replay(own::slru{}, seen);
  report.add("trainer_hits", trained.hits);
  report.add("simulator_hits", simulated.hits);
  inlay::expects(simulated.hits == trained.hits && simulated.evictions == trained.evictions,
                 "the simulator must have the hits and evictions of the trainer");
  report.add("simulator_hits_equal", std::string("trainer_hits"));

  report.add("slru_hit_rate", simulated.hit_rate());
  report.add("lru_hit_rate", replay(inlay::lru{}, seen).hit_rate());
  report.show();
}
