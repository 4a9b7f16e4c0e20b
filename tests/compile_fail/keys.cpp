// Keys that pack nothing.
// expect: parts.keys must pack (table, id) into a key: see vsid/keys.hpp

#include <inlay/engine/engine.hpp>

struct wrong {};

int main() { inlay::engine trainer{inlay::shape{}, inlay::parts{.keys = wrong{}}}; }
