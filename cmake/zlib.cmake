# inlay::zlib, once ZLIB is found: what a program links beside inlay::inlay or inlay::emulated to read
# files that gzip has compressed. Serves this project, those that add it as a subdirectory, and the
# installed package.
#
# A target of its own, so that who reads no such file needs no zlib. inlay_target_scope: see
# emulated.cmake.

if(NOT TARGET inlay::zlib)
  add_library(inlay::zlib INTERFACE IMPORTED ${inlay_target_scope})
  target_compile_definitions(inlay::zlib INTERFACE INLAY_ZLIB=1)
  target_link_libraries(inlay::zlib INTERFACE inlay::inlay ZLIB::ZLIB)
endif()
