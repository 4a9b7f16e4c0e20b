// A cache policy of one's own: written here, checked by the library's laws, and plugged into a
// trainer.

#include "example_report.hpp"

#include <inlay/batch/loader.hpp>
#include <inlay/batch/split.hpp>
#include <inlay/batch/synthetic.hpp>
#include <inlay/cache/lru.hpp>
#include <inlay/cache/slot_list.hpp>
#include <inlay/engine/engine.hpp>
#include <inlay/model/log_loss.hpp>
#include <inlay/model/logistic_regression.hpp>
#include <inlay/testing/cache_policy_laws.hpp>

namespace {

/// First in, second chance out: a queue by age in which a slot that was used more than `spared`
/// times since it was last young goes to the young end once more instead of leaving.
struct second_chance {
  std::uint32_t spared = 1;  ///< uses

  struct slot_state {
    inlay::link at;
    std::uint32_t uses = 0;
  };
  struct set_state {
    inlay::slot_list queue;
  };
  using slots = inlay::span<slot_state>;

  void reset(slots, set_state& set) const { set = {}; }
  void on_insert(slots s, set_state& set, inlay::way_id way, inlay::cache_access const&) const {
    s[way].uses = 0;
    set.queue.push_young(s, way);
  }
  void on_hit(slots s, set_state&, inlay::way_id way, inlay::cache_access const& use) const {
    s[way].uses += use.count;
  }
  void on_evict(slots s, set_state& set, inlay::way_id way) const { set.queue.remove(s, way); }

  template <class Pinned>
  inlay::way_id victim(slots s, set_state& set, inlay::cache_access const&,
                       Pinned const& pinned) const {
    // Two rounds: the first may only take second chances away.
    for (auto left = 2 * set.queue.size; left > 0; --left) {
      auto const way = set.queue.oldest;
      if (!pinned(way)) {
        if (s[way].uses <= spared) return way;
        s[way].uses = 0;
      }
      set.queue.make_young(s, way);
    }
    return inlay::no_way;
  }
};
static_assert(inlay::cache_policy<second_chance>);

/// Trains one epoch of logistic regression behind a cache and returns its hits per unique id.
template <class Policy>
double hit_rate(inlay::synthetic const& clicks, Policy policy) {
  auto shape = inlay::shape::one_table_per_field(clicks.fields(), 1);
  shape.batch = 256;
  shape.cache_rows = 4'000;
  auto trainer = inlay::engine{shape, inlay::parts{.cache = policy}};
  auto network = inlay::logistic_regression({clicks.fields(), clicks.dense_width()});
  auto loss = inlay::log_loss{};
  trainer.attach(network.parameters(), network.gradients());

  auto samples = inlay::loader(clicks, inlay::split_by_time(clicks).train);
  while (auto step = trainer.next(samples)) {
    for (auto chunk : step->chunks()) {
      auto const logits = network.forward(chunk.pooled(), chunk.dense());
      chunk.backward(network.backward(loss(logits, chunk.labels())));
    }
    trainer.finish(std::move(*step));
  }
  auto const rows = trainer.figures().rows;
  return static_cast<double>(rows.hits) / static_cast<double>(rows.unique);
}

}  // namespace

int main(int argc, char** argv) {
  auto report = example_report("A cache policy of one's own beside LRU.", argc, argv);
  inlay::testing::check_cache_policy(second_chance{});
  report.add("laws", std::string("kept"));

  auto const clicks = inlay::synthetic({.rows = 50'000});
  report.add("second_chance_hit_rate", hit_rate(clicks, second_chance{}));
  report.add("lru_hit_rate", hit_rate(clicks, inlay::lru{}));
  report.show();
}
