# docs writes the reference into docs/html of the build folder. docs-lint does the same elsewhere and
# fails on any warning, such as a public name that says nothing about itself. Both read the headers
# as doxygen_filter.awk shows them.

find_program(INLAY_DOXYGEN doxygen)
find_program(INLAY_AWK awk)
mark_as_advanced(INLAY_DOXYGEN INLAY_AWK)

if(NOT INLAY_DOXYGEN OR NOT INLAY_AWK)
  message(STATUS "inlay: no doxygen or no awk, so no targets docs and docs-lint")
  return()
endif()

set(doxyfile "${PROJECT_BINARY_DIR}/docs/Doxyfile")
set(html_output html)
set(warn_as_error NO)
configure_file("${PROJECT_SOURCE_DIR}/cmake/Doxyfile.in" "${doxyfile}" @ONLY)
add_custom_target(docs COMMAND ${INLAY_DOXYGEN} "${doxyfile}" VERBATIM)

set(html_output lint)
set(warn_as_error FAIL_ON_WARNINGS)
configure_file("${PROJECT_SOURCE_DIR}/cmake/Doxyfile.in" "${doxyfile}.lint" @ONLY)
set(INLAY_DOCS_LINT ${INLAY_DOXYGEN} "${doxyfile}.lint")
add_custom_target(docs-lint COMMAND ${INLAY_DOCS_LINT} VERBATIM)
