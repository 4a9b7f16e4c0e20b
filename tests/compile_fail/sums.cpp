// Sums in an order that nobody knows.
// expect: parts.sums must be fast_sums or fixed_sums, or a one_of both

#include <inlay/engine/engine.hpp>

struct wrong {};

int main() { inlay::engine trainer{inlay::shape{}, inlay::parts{.sums = wrong{}}}; }
