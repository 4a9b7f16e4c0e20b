# Tests of the tree itself: the order of folders, formatting, documentation.

set(expect_failure "${PROJECT_SOURCE_DIR}/cmake/expect_failure.cmake")

add_test(NAME layers COMMAND ${INLAY_CHECK_LAYERS})

# The check must also see what it looks for. inlay_plant(<name> <file> <text> <sentence>) writes a
# tree with one offence, which must be found at its line.
function(inlay_plant name file text sentence)
  set(root "${CMAKE_CURRENT_BINARY_DIR}/planted/${name}")
  file(CONFIGURE OUTPUT "${root}/${file}" CONTENT "${text}" @ONLY)
  add_test(NAME layers.${name}
           COMMAND ${CMAKE_COMMAND} "-DEXPECT=${root}/${file}:${sentence}" -P ${expect_failure} --
                   ${CMAKE_COMMAND} "-DROOT=${root}" -P
                   "${PROJECT_SOURCE_DIR}/cmake/check_layers.cmake")
endfunction()

inlay_plant(backward_include core/ahead.hpp "#pragma once\n\n#include <inlay/cache/lru.hpp>\n"
            "3: error: core/ includes cache/, a later folder")
inlay_plant(relative_include cache/ahead.hpp "#include \"../engine/engine.hpp\"\n"
            "1: error: cache/ includes engine/, a later folder")
inlay_plant(umbrella_include sim/all.hpp "#include <inlay/inlay.hpp>\n"
            "1: error: sim/ includes the umbrella header")
inlay_plant(macro_left core/leak.hpp "#define KEPT 1\n#define GONE 2\n#undef GONE\n"
            "1: error: KEPT stays defined")
inlay_plant(thrust_in_hpp vsid/sort.hpp "#include <thrust/sort.h>\n"
            "1: error: a .hpp includes thrust")
inlay_plant(detail_folder core/detail/help.hpp "#pragma once\n" "1: error: a detail/ folder")
inlay_plant(inl_file core/help.inl "#pragma once\n" "1: error: an .inl file")
inlay_plant(unknown_folder misc/help.hpp "#pragma once\n" "1: error: misc/ is no folder")

# Neither formatting nor documentation depends on the preset, so one of them checks it.
if(INLAY_BACKEND STREQUAL "host" AND NOT INLAY_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  if(INLAY_FORMAT_CHECK)
    add_test(NAME format COMMAND ${INLAY_FORMAT_CHECK})
  endif()
  if(INLAY_DOCS_LINT)
    add_test(NAME docs COMMAND ${INLAY_DOCS_LINT})
    # And it must see what it looks for.
    set(root "${CMAKE_CURRENT_BINARY_DIR}/planted/undocumented")
    file(CONFIGURE OUTPUT "${root}/core/config.hpp" CONTENT
         "/// Here.\nnamespace inlay {\n/// A.\nstruct a {\n  int b = 0;\n};\nint c();\n}\n" @ONLY)
    file(CONFIGURE OUTPUT "${root}/Doxyfile" CONTENT
         "@INCLUDE = \"${PROJECT_BINARY_DIR}/docs/Doxyfile.lint\"
INPUT = \"${root}/core\"
OUTPUT_DIRECTORY = \"${root}\"\n")
    add_test(NAME docs.undocumented
             COMMAND ${CMAKE_COMMAND} "-DEXPECT=Member b (variable);Member c() (function)" -P
                     ${expect_failure} -- ${INLAY_DOXYGEN} "${root}/Doxyfile")
  endif()
endif()

# What the README shows is what the example says, and the umbrella leaves no header out.
add_test(NAME readme
         COMMAND ${CMAKE_COMMAND} "-DREADME=${PROJECT_SOURCE_DIR}/README.md"
                 "-DEXAMPLE=${PROJECT_SOURCE_DIR}/examples/quickstart.cpp" -P
                 "${PROJECT_SOURCE_DIR}/cmake/check_readme.cmake")
add_test(NAME umbrella COMMAND ${CMAKE_COMMAND} "-DROOT=${PROJECT_SOURCE_DIR}/include/inlay" -P
                               "${PROJECT_SOURCE_DIR}/cmake/check_umbrella.cmake")
