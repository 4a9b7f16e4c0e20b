// An exchange that moves nothing.
// expect: parts.exchange must be a row exchange or pooled_all_to_all

#include <inlay/engine/engine.hpp>

struct wrong {};

int main() { inlay::engine trainer{inlay::shape{}, inlay::parts{.exchange = wrong{}}}; }
