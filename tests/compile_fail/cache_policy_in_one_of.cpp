// One of several choices is no cache policy.
// expect: parts.cache must be a cache policy, or a one_of policies: see cache/cache_policy.hpp

#include <inlay/cache/lru.hpp>
#include <inlay/engine/engine.hpp>

struct not_a_policy {
  static constexpr char const* name = "not_a_policy";
};

int main() {
  inlay::engine trainer{inlay::shape{},
                        inlay::parts{.cache = inlay::one_of<inlay::lru, not_a_policy>{}}};
}
