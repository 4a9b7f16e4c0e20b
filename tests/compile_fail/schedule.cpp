// A schedule that gives no factor.
// expect: parts.schedule must be a rate schedule, or a one_of rate schedules: see

#include <inlay/engine/engine.hpp>

struct wrong {};

int main() { inlay::engine trainer{inlay::shape{}, inlay::parts{.schedule = wrong{}}}; }
