// A part of another kind in the place of parts.table.
// expect: parts.table must open a row store: see table/row_store.hpp

#include <inlay/engine/engine.hpp>

struct other {};

int main() { inlay::engine trainer{inlay::shape{}, inlay::parts{.table = other{}}}; }
