// A unit that does not link inlay::zlib, in one program with units that do.
#undef INLAY_ZLIB

#include "files.hpp"

#include <inlay/batch/criteo_tsv.hpp>
#include <inlay/batch/movielens_csv.hpp>

#include <doctest/doctest.h>

#include <string>

TEST_CASE("without zlib a compressed file is refused in words, and plain text is read") {
  temporary_file const packed("\x1f\x8b\x08 and so on");
  auto const sentence =
      "'" + packed.path() +
      "' is compressed by gzip, and this build has no zlib: link inlay::zlib (find_package(inlay "
      "COMPONENTS zlib)), or unpack the file";
  CHECK(sentence_of([&] { inlay::criteo_tsv const source(packed.path()); }) == sentence);
  CHECK(sentence_of([&] { inlay::movielens_csv const source(packed.path()); }) == sentence);
  CHECK(sentence_of([&] { inlay::line_reader const reader(packed.path()); }) == sentence);

  temporary_file const plain("one\ntwo\n");
  inlay::line_reader reader(plain.path());
  CHECK(reader.next() == "one");
  CHECK(reader.next() == "two");
}
