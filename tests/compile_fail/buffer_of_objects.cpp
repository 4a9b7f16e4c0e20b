// A buffer of things that own memory, which it would copy as bytes.
// expect: a buffer holds plain values only

#include <inlay/core/buffer.hpp>

#include <string>

int main() { inlay::buffer<std::string> names; }
