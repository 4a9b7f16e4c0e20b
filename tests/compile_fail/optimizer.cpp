// An optimizer that updates nothing.
// expect: parts.optimizer must be a row optimizer, or a one_of row optimizers: see

#include <inlay/engine/engine.hpp>

struct wrong {};

int main() { inlay::engine trainer{inlay::shape{}, inlay::parts{.optimizer = wrong{}}}; }
