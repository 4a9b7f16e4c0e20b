// A part of another kind in the place of parts.sync.
// expect: parts.sync must grant samples: see aggregate/bulk.hpp

#include <inlay/engine/engine.hpp>

struct other {};

int main() { inlay::engine trainer{inlay::shape{}, inlay::parts{.sync = other{}}}; }
