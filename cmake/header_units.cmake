# Every header alone in a unit, included twice: it must bring what it needs and guard itself. Then
# two units with all headers in one program: nothing may be defined twice.

# Headers of others that a header of inlay may name, and the target that has each.
set(foreign_includes "Eigen/")
set(foreign_targets Eigen3::Eigen)

file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/include"
     "${PROJECT_SOURCE_DIR}/include/inlay/*.hpp")

# Leaves out what this machine cannot compile, and says so.
foreach(include target IN ZIP_LISTS foreign_includes foreign_targets)
  if(TARGET ${target})
    continue()
  endif()
  foreach(header IN LISTS headers)
    file(STRINGS "${PROJECT_SOURCE_DIR}/include/${header}" uses REGEX "^#include <${include}")
    if(uses OR (target STREQUAL "Eigen3::Eigen" AND header MATCHES "inlay/model/|inlay/inlay.hpp"))
      message(STATUS "inlay: no unit for ${header}, since ${target} is not here")
      list(REMOVE_ITEM headers "${header}")
    endif()
  endforeach()
endforeach()

set(units "")
set(all_includes "")
foreach(header IN LISTS headers)
  string(REGEX REPLACE "\\.hpp$" ".cpp" unit "${PROJECT_BINARY_DIR}/header_units/${header}")
  file(CONFIGURE OUTPUT "${unit}" CONTENT "#include <@header@>\n#include <@header@>\n" @ONLY)
  list(APPEND units "${unit}")
  string(APPEND all_includes "#include <${header}>\n")
endforeach()

set(first "${PROJECT_BINARY_DIR}/header_units/first.cpp")
set(second "${PROJECT_BINARY_DIR}/header_units/second.cpp")
file(CONFIGURE OUTPUT "${first}" CONTENT "@all_includes@int main() { return 0; }\n" @ONLY)
file(CONFIGURE OUTPUT "${second}" CONTENT "@all_includes@" @ONLY)

function(inlay_link_header_units target)
  target_link_libraries(${target} PRIVATE inlay_backend inlay_options)
  foreach(foreign IN LISTS foreign_targets)
    if(TARGET ${foreign})
      target_link_libraries(${target} PRIVATE ${foreign})
    endif()
  endforeach()
  # nvcc warns, without naming a place, about Eigen's device functions, which nobody here calls. The
  # warning stays on, since it is worth having about the headers of inlay.
  target_compile_definitions(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CUDA>:EIGEN_NO_CUDA>")
  # Nothing here ever runs, so no time is spent on making it fast.
  target_compile_options(${target} PRIVATE "$<$<COMPILE_LANGUAGE:CXX>:-O0>")
endfunction()

if(units)
  inlay_compile_for_backend(${units} ${first} ${second})
  add_library(header_units OBJECT ${units})
  inlay_link_header_units(header_units)
  add_executable(two_units ${first} ${second})
  inlay_link_header_units(two_units)
  if(INLAY_BACKEND STREQUAL "cuda")
    # Device code that is linked across units finds other duplicates than the host linker does.
    add_executable(two_units_rdc ${first} ${second})
    set_target_properties(two_units_rdc PROPERTIES CUDA_SEPARABLE_COMPILATION ON)
    inlay_link_header_units(two_units_rdc)
  endif()
endif()
