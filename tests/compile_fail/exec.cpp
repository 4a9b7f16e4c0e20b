// An execution that is none.
// expect: parts.exec must be an execution: host_exec

#include <inlay/engine/engine.hpp>

struct wrong {};

int main() { inlay::engine trainer{inlay::shape{}, inlay::parts{.exec = wrong{}}}; }
