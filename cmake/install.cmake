# What `cmake --install` puts where: headers, the package that find_package reads, the licence. No
# path is absolute, so that the installed folder may move.

include(CMakePackageConfigHelpers)

set(package "${CMAKE_INSTALL_DATAROOTDIR}/cmake/inlay")
install(TARGETS inlay EXPORT inlayTargets)
install(EXPORT inlayTargets NAMESPACE inlay:: DESTINATION ${package})

# Before 1.0 a minor version may break sources, so 0.1 serves who asks for 0.1 only.
write_basic_package_version_file("${PROJECT_BINARY_DIR}/inlayConfigVersion.cmake"
                                 COMPATIBILITY SameMinorVersion ARCH_INDEPENDENT)
install(FILES "${PROJECT_SOURCE_DIR}/cmake/inlayConfig.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/find_cccl.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/emulated.cmake"
              "${PROJECT_SOURCE_DIR}/cmake/zlib.cmake"
              "${PROJECT_BINARY_DIR}/inlayConfigVersion.cmake" DESTINATION ${package})

install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/inlay"
        DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING
        PATTERN "*.hpp"
        PATTERN "*.cuh")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION ${CMAKE_INSTALL_DOCDIR})
