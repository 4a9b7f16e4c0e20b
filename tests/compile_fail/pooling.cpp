// A pooling that pools nothing.
// expect: parts.pooling must be a pooling, or a one_of poolings: see bag/pooling.hpp

#include <inlay/engine/engine.hpp>

struct wrong {};

int main() { inlay::engine trainer{inlay::shape{}, inlay::parts{.pooling = wrong{}}}; }
