// Sets of a cache without anything to say which row leaves them.
// expect: parts.organisation needs a cache policy: name one in parts.cache, such as lru

#include <inlay/cache/set_associative.hpp>
#include <inlay/engine/engine.hpp>

int main() {
  inlay::engine trainer{inlay::shape{}, inlay::parts{.organisation = inlay::set_associative<16>{}}};
}
