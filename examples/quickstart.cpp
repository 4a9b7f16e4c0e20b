// A click model made of parts: 26 embedding tables behind a small SIEVE cache, and a DeepFM
// network.
#include "example_report.hpp"

#include <inlay/inlay.hpp>
#include <inlay/model/auc.hpp>
#include <inlay/model/deepfm.hpp>
#include <inlay/model/log_loss.hpp>

int main(int argc, char** argv) {
  auto report = example_report("Trains a small click model.", argc, argv);

  // Data: clicks shaped like Criteo's; the first 80 % train, the rest is held back.
  auto const clicks = inlay::synthetic({.rows = 100'000});
  auto const [train, test] = inlay::split_by_time(clicks);
  auto training = inlay::loader(clicks, train, {.epochs = 4});
  auto held_back = inlay::loader(clicks, test, {.order = inlay::sample_order::given});

  // Facts that are known at run time, then the parts that differ from the defaults.
  auto shape = inlay::shape::one_table_per_field(clicks.fields(), 16);
  shape.batch = 256;
  shape.cache_rows = 10'000;
  auto trainer = inlay::engine{
      shape, inlay::parts{
                 .cache = inlay::sieve{},
                 .optimizer = inlay::adagrad{.learning_rate = 0.1F, .initial_accumulator = 0.01F},
             }};

  auto network = inlay::deepfm({.fields = clicks.fields(), .dense_width = clicks.dense_width()});
  auto loss = inlay::log_loss{};
  trainer.attach(network.parameters(), network.gradients());

  while (auto step = trainer.next(training)) {
    for (auto chunk : step->chunks()) {
      auto const logits = network.forward(chunk.pooled(), chunk.dense());
      chunk.backward(network.backward(loss(logits, chunk.labels())));
    }
    trainer.finish(std::move(*step));
  }

  auto const batch = trainer.lookup(held_back.read({0, held_back.size()}));
  auto const scores = network.forward(batch.pooled, batch.dense);
  auto const figures = trainer.figures();
  report.add("test_auc", inlay::auc(scores, batch.labels.values));
  report.add("table_rows", std::uint64_t{figures.table_rows});
  report.add("hit_rate",
             static_cast<double>(figures.rows.hits) / static_cast<double>(figures.rows.unique));
  report.show();
}
