// An exchange that moves nothing.
// expect: parts.exchange must be a row exchange, a one_of row exchanges, or

#include <inlay/engine/engine.hpp>

struct wrong {};

int main() { inlay::engine trainer{inlay::shape{}, inlay::parts{.exchange = wrong{}}}; }
