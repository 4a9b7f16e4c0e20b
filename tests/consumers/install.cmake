# cmake -DBUILD=<build folder> -DROOT=<source folder> -DPREFIX=<folder> -P install.cmake
#
# Installs, moves what was installed to PREFIX, and looks that nothing names where it came from.

cmake_minimum_required(VERSION 3.25)

set(before "${PREFIX}-before")
file(REMOVE_RECURSE "${PREFIX}" "${before}")
execute_process(COMMAND ${CMAKE_COMMAND} --install "${BUILD}" --prefix "${before}"
                COMMAND_ERROR_IS_FATAL ANY OUTPUT_QUIET)
file(RENAME "${before}" "${PREFIX}")

file(GLOB_RECURSE installed RELATIVE "${PREFIX}" "${PREFIX}/*")
foreach(file IN LISTS installed)
  if(NOT file MATCHES "\\.(hpp|cuh|cmake)$|/LICENSE$")
    message(SEND_ERROR "${file} was installed; headers, CMake's files and the licence are wanted")
  endif()
  file(READ "${PREFIX}/${file}" text)
  foreach(place "${ROOT}" "${BUILD}" "${before}")
    string(FIND "${text}" "${place}" at)
    if(NOT at EQUAL -1)
      message(SEND_ERROR "${file} holds a path of this machine: ${place}")
    endif()
  endforeach()
endforeach()
foreach(wanted include/inlay/inlay.hpp share/cmake/inlay/inlayConfig.cmake share/doc/inlay/LICENSE)
  if(NOT EXISTS "${PREFIX}/${wanted}")
    message(SEND_ERROR "${wanted} was not installed")
  endif()
endforeach()
