// A cache or none, chosen when the program runs.
// expect: parts.cache is a one_of with no_cache among its choices

#include <inlay/cache/lru.hpp>
#include <inlay/engine/engine.hpp>

int main() {
  using either = inlay::one_of<inlay::no_cache, inlay::lru>;
  inlay::engine trainer{inlay::shape{}, inlay::parts{.cache = either{}}};
}
