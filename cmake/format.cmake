# format rewrites the tree, format-check only says what it would rewrite. One version of
# clang-format, since another version formats differently.

find_program(INLAY_CLANG_FORMAT clang-format-19)
mark_as_advanced(INLAY_CLANG_FORMAT)

if(INLAY_CLANG_FORMAT)
  set(patterns "")
  foreach(folder include tests bench examples)
    foreach(extension hpp cuh cpp cu)
      list(APPEND patterns "${PROJECT_SOURCE_DIR}/${folder}/*.${extension}")
    endforeach()
  endforeach()
  file(GLOB_RECURSE INLAY_FORMATTED_FILES CONFIGURE_DEPENDS ${patterns})

  set(INLAY_FORMAT_CHECK ${INLAY_CLANG_FORMAT} --dry-run -Werror ${INLAY_FORMATTED_FILES})
  add_custom_target(format COMMAND ${INLAY_CLANG_FORMAT} -i ${INLAY_FORMATTED_FILES} VERBATIM)
  add_custom_target(format-check COMMAND ${INLAY_FORMAT_CHECK} VERBATIM)
else()
  message(STATUS "inlay: no clang-format-19, so no targets format and format-check")
endif()
