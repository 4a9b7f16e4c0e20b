// A part of another kind in the place of parts.organisation.
// expect: parts.organisation must be an organisation of rows: see cache/organisation.hpp

#include <inlay/engine/engine.hpp>

struct other {};

int main() { inlay::engine trainer{inlay::shape{}, inlay::parts{.organisation = other{}}}; }
