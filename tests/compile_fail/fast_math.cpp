// What a compiler defines under -ffast-math.
// expect: inlay must not be compiled with -ffast-math

#define __FAST_MATH__ 1

#include <inlay/core/config.hpp>

int main() {}
