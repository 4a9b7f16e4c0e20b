// A mapper that maps nothing.
// expect: parts.mapper must be an id mapper: see vsid/id_plan.hpp

#include <inlay/engine/engine.hpp>

struct wrong {};

int main() { inlay::engine trainer{inlay::shape{}, inlay::parts{.mapper = wrong{}}}; }
