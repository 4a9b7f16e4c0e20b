// A cache policy without a victim function.
// expect: parts.cache must be a cache policy, or a one_of policies: see cache/cache_policy.hpp

#include <inlay/engine/engine.hpp>

struct no_victim {
  struct slot_state {};
  struct set_state {};
  void reset(inlay::span<slot_state>, set_state&) const {}
  void on_insert(inlay::span<slot_state>, set_state&, inlay::way_id,
                 inlay::cache_access const&) const {}
  void on_hit(inlay::span<slot_state>, set_state&, inlay::way_id,
              inlay::cache_access const&) const {}
  void on_evict(inlay::span<slot_state>, set_state&, inlay::way_id) const {}
};

int main() { inlay::engine trainer{inlay::shape{}, inlay::parts{.cache = no_victim{}}}; }
