# cmake -DROOT=<include/inlay> -P check_umbrella.cmake
# inlay.hpp must include every header but those of model/ (it needs Eigen) and testing/.
file(READ "${ROOT}/inlay.hpp" umbrella)
file(GLOB_RECURSE headers RELATIVE "${ROOT}" "${ROOT}/*.hpp")
list(FILTER headers EXCLUDE REGEX "^(model|testing)/|^inlay.hpp$")
foreach(header IN LISTS headers)
  string(FIND "${umbrella}" "#include <inlay/${header}>" at)
  if(at EQUAL -1)
    message(SEND_ERROR "inlay.hpp does not include ${header}")
  endif()
endforeach()
