// A cache without anything to say which row leaves it.
// expect: parts.organisation needs a cache policy: name one in parts.cache, such as lru

#include <inlay/engine/engine.hpp>

int main() {
  inlay::engine trainer{inlay::shape{}, inlay::parts{.organisation = inlay::fully_associative{}}};
}
