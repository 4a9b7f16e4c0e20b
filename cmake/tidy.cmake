# tidy runs clang-tidy 19 over all headers, in one unit that includes them, and over the examples,
# which make engines of them. It takes a minute or more, so it is no test.

find_program(INLAY_CLANG_TIDY clang-tidy-19)
find_program(INLAY_RUN_CLANG_TIDY run-clang-tidy-19)
mark_as_advanced(INLAY_CLANG_TIDY INLAY_RUN_CLANG_TIDY)

if(INLAY_CLANG_TIDY AND INLAY_RUN_CLANG_TIDY AND CMAKE_EXPORT_COMPILE_COMMANDS)
  # The commands are those of g++, some of whose warnings clang does not know.
  add_custom_target(
    tidy
    COMMAND
      ${INLAY_RUN_CLANG_TIDY} -quiet -clang-tidy-binary ${INLAY_CLANG_TIDY} -p
      "${PROJECT_BINARY_DIR}" -extra-arg=-Wno-unknown-warning-option -extra-arg=-Wno-error
      "/header_units/second\\.cpp$" "/examples/[a-z_]*\\.cpp$"
    WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}"
    VERBATIM)
else()
  message(STATUS "inlay: no clang-tidy-19 or no compile commands, so no target tidy")
endif()
