// Rows that never move, and a policy that would move them.
// expect: parts.organisation is in_place, where rows never move: it can't have a cache policy

#include <inlay/cache/lru.hpp>
#include <inlay/engine/engine.hpp>

int main() {
  inlay::engine trainer{inlay::shape{},
                        inlay::parts{.cache = inlay::lru{}, .organisation = inlay::in_place{}}};
}
