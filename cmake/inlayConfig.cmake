# find_package(inlay) gives inlay::inlay, and inlay::emulated where CCCL has been found before.
# find_package(inlay COMPONENTS emulated) looks for CCCL itself.

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

foreach(component IN LISTS inlay_FIND_COMPONENTS)
  if(inlay_${component}_FOUND OR NOT inlay_FIND_REQUIRED_${component})
    continue()
  endif()
  set(inlay_FOUND FALSE)
  if(component STREQUAL "emulated")
    set(inlay_NOT_FOUND_MESSAGE
        "inlay::emulated needs CCCL: put nvcc on PATH, or let CCCL_DIR name its cccl-config.cmake's folder")
  else()
    set(inlay_NOT_FOUND_MESSAGE "inlay has no component ${component}, only emulated")
  endif()
endforeach()
