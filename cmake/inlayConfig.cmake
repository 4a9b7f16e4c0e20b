# find_package(inlay) gives inlay::inlay, and inlay::emulated where CCCL has been found before,
# inlay::zlib where ZLIB has. find_package(inlay COMPONENTS emulated zlib) looks for these itself.

include(CMakeFindDependencyMacro)
find_dependency(Threads)
include("${CMAKE_CURRENT_LIST_DIR}/inlayTargets.cmake")

if("emulated" IN_LIST inlay_FIND_COMPONENTS)
  include("${CMAKE_CURRENT_LIST_DIR}/find_cccl.cmake")
endif()
if(COMMAND thrust_create_target)
  set(inlay_target_scope "")
  include("${CMAKE_CURRENT_LIST_DIR}/emulated.cmake")
  set(inlay_emulated_FOUND TRUE)
endif()

if("zlib" IN_LIST inlay_FIND_COMPONENTS)
  find_package(ZLIB QUIET)
endif()
if(TARGET ZLIB::ZLIB)
  set(inlay_target_scope "")
  include("${CMAKE_CURRENT_LIST_DIR}/zlib.cmake")
  set(inlay_zlib_FOUND TRUE)
endif()

foreach(component IN LISTS inlay_FIND_COMPONENTS)
  if(inlay_${component}_FOUND OR NOT inlay_FIND_REQUIRED_${component})
    continue()
  endif()
  set(inlay_FOUND FALSE)
  if(component STREQUAL "emulated")
    set(inlay_NOT_FOUND_MESSAGE
        "inlay::emulated needs CCCL: put nvcc on PATH, or let CCCL_DIR name its cccl-config.cmake's folder")
  elseif(component STREQUAL "zlib")
    set(inlay_NOT_FOUND_MESSAGE "inlay::zlib needs zlib (Debian: zlib1g-dev)")
  else()
    set(inlay_NOT_FOUND_MESSAGE "inlay has no component ${component}, only emulated and zlib")
  endif()
endforeach()
