# The layer check as a part of every build and as a test; see check_layers.cmake for its rules.

set(INLAY_CHECK_LAYERS ${CMAKE_COMMAND} "-DROOT=${PROJECT_SOURCE_DIR}/include/inlay" -P
                       "${PROJECT_SOURCE_DIR}/cmake/check_layers.cmake")
file(GLOB_RECURSE headers CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/include/inlay/*")
add_custom_command(
  OUTPUT "${PROJECT_BINARY_DIR}/layers.stamp"
  COMMAND ${INLAY_CHECK_LAYERS}
  COMMAND ${CMAKE_COMMAND} -E touch "${PROJECT_BINARY_DIR}/layers.stamp"
  DEPENDS ${headers} "${PROJECT_SOURCE_DIR}/cmake/check_layers.cmake"
  COMMENT "Checking the order of folders"
  VERBATIM)
add_custom_target(layers ALL DEPENDS "${PROJECT_BINARY_DIR}/layers.stamp")
