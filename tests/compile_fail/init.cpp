// An initialiser that fills nothing.
// expect: parts.init must be an initialiser: see table/initialiser.hpp

#include <inlay/engine/engine.hpp>

struct wrong {};

int main() { inlay::engine trainer{inlay::shape{}, inlay::parts{.init = wrong{}}}; }
