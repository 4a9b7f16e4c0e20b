// An admission that answers nothing.
// expect: parts.admit must be an admission: see table/admission.hpp

#include <inlay/engine/engine.hpp>

struct wrong {};

int main() { inlay::engine trainer{inlay::shape{}, inlay::parts{.admit = wrong{}}}; }
