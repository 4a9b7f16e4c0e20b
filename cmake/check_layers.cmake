# cmake -DROOT=<folder of headers> -P check_layers.cmake
#
# Fails, with file, line and a sentence, on what would make the headers hard to use piece by piece:
# an include of a later folder, a macro left defined, Thrust or CUB in a .hpp, a detail/ folder, an
# .inl file. A header of more than 300 lines is a warning.

cmake_minimum_required(VERSION 3.25)

set(order core batch vsid table cache codec bag exchange aggregate optim engine sim model testing)
list(JOIN order " -> " order_in_words)
set(longest 300)  # lines
set_property(GLOBAL PROPERTY findings 0)
cmake_path(ABSOLUTE_PATH ROOT BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE)

function(finding place sentence)
  message(NOTICE "${place}: error: ${sentence}")
  get_property(count GLOBAL PROPERTY findings)
  math(EXPR count "${count} + 1")
  set_property(GLOBAL PROPERTY findings ${count})
endfunction()

# The folder that an include names, counted from ROOT; empty for headers of others. The umbrella
# lies in no folder and is called "inlay.hpp".
function(included_folder header include result)
  set(folder "")
  if(include MATCHES "^[<\"]inlay/([^/>\"]+)")
    set(folder "${CMAKE_MATCH_1}")
  elseif(include MATCHES "^\"([^\"]+)\"")
    set(path "${CMAKE_MATCH_1}")
    cmake_path(GET header PARENT_PATH here)
    cmake_path(APPEND here "${path}" OUTPUT_VARIABLE path)
    cmake_path(NORMAL_PATH path)
    if(path MATCHES "^([^/]+)")
      set(folder "${CMAKE_MATCH_1}")
    endif()
  endif()
  set(${result} "${folder}" PARENT_SCOPE)
endfunction()

function(check_include header place include)
  if(header MATCHES "\\.hpp$" AND include MATCHES "^[<\"](thrust|cub)/")
    finding("${place}" "a .hpp includes ${CMAKE_MATCH_1}; only the .cuh beside it may")
  endif()

  if(NOT header MATCHES "/")
    return()  # The umbrella sits above all folders.
  endif()
  string(REGEX REPLACE "/.*" "" own "${header}")
  included_folder("${header}" "${include}" other)
  list(FIND order "${own}" own_place)
  list(FIND order "${other}" other_place)
  if(other STREQUAL "")
    return()
  elseif(other STREQUAL "inlay.hpp")
    finding("${place}" "${own}/ includes the umbrella header, which includes everything")
  elseif(other_place EQUAL -1)
    finding("${place}" "${own}/ includes ${other}/, which is no folder of ${order_in_words}")
  elseif(other_place GREATER own_place)
    finding("${place}"
            "${own}/ includes ${other}/, a later folder; the order is ${order_in_words}")
  endif()
endfunction()

function(check_header header)
  file(READ "${ROOT}/${header}" text)
  # What would confuse a list of CMake: its separator, its brackets, a trailing escape.
  string(REGEX REPLACE "[][;\\]" " " text "${text}")
  string(REPLACE "\n" ";" lines "${text}")

  set(number 0)
  set(defined "")
  foreach(line IN LISTS lines)
    math(EXPR number "${number} + 1")
    if(NOT line MATCHES "^[ \t]*#[ \t]*(include|define|undef)[ \t]*([A-Za-z_0-9]+|[<\"].*)")
      continue()
    endif()
    set(directive "${CMAKE_MATCH_1}")
    set(operand "${CMAKE_MATCH_2}")
    if(directive STREQUAL "include")
      check_include("${header}" "${ROOT}/${header}:${number}" "${operand}")
    elseif(directive STREQUAL "define")
      list(APPEND defined "${operand}")
      set(line_of_${operand} ${number})
    else()
      list(REMOVE_ITEM defined "${operand}")
    endif()
  endforeach()

  if(NOT header STREQUAL "core/config.hpp")
    foreach(macro IN LISTS defined)
      finding("${ROOT}/${header}:${line_of_${macro}}"
              "${macro} stays defined; only core/config.hpp may leave macros behind")
    endforeach()
  endif()
  if(number GREATER longest)
    message(NOTICE "${ROOT}/${header}:${number}: warning: more than ${longest} lines; split it")
  endif()
endfunction()

file(GLOB_RECURSE headers RELATIVE "${ROOT}" "${ROOT}/*.hpp" "${ROOT}/*.cuh" "${ROOT}/*.inl")
if(NOT headers)
  message(FATAL_ERROR "layers: no headers in ${ROOT}")
endif()
foreach(header IN LISTS headers)
  if(header MATCHES "(^|/)detail/")
    finding("${ROOT}/${header}:1"
            "a detail/ folder; helpers live in namespace detail above their only user")
  endif()
  if(header MATCHES "\\.inl$")
    finding("${ROOT}/${header}:1" "an .inl file; templates are defined where they are declared")
  endif()
  if(header MATCHES "^([^/]+)/" AND NOT CMAKE_MATCH_1 IN_LIST order)
    finding("${ROOT}/${header}:1" "${CMAKE_MATCH_1}/ is no folder of ${order_in_words}")
  endif()
  check_header("${header}")
endforeach()

list(LENGTH headers count)
get_property(findings GLOBAL PROPERTY findings)
if(findings)
  message(FATAL_ERROR "layers: ${findings} finding(s) in ${count} headers")
endif()
message(STATUS "layers: ${count} headers, every include points at its own folder or an earlier one")
