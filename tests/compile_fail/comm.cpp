// A communicator that sends nothing.
// expect: parts.comm must be a communicator: see exchange/communicator.hpp

#include <inlay/engine/engine.hpp>

struct wrong {};

int main() { inlay::engine trainer{inlay::shape{}, inlay::parts{.comm = wrong{}}}; }
