# The libraries that tests, benches and examples use. All are optional here and come from the
# system; nothing is downloaded. What needs an absent one is left out, with a message.

foreach(package Eigen3 doctest benchmark CLI11 nlohmann_json ZLIB)
  find_package(${package} QUIET)
endforeach()

# All programs of this project read compressed files where zlib is here.
if(TARGET ZLIB::ZLIB)
  include(cmake/zlib.cmake)
  target_link_libraries(inlay_backend INTERFACE inlay::zlib)
endif()

# inlay_missing(<result> <target>...): those of the targets that this machine lacks.
function(inlay_missing result)
  set(missing "")
  foreach(target IN LISTS ARGN)
    if(NOT TARGET ${target})
      list(APPEND missing ${target})
    endif()
  endforeach()
  set(${result} "${missing}" PARENT_SCOPE)
endfunction()
