# Finds CCCL where CMAKE_PREFIX_PATH or CCCL_DIR say, else in the CUDA toolkit, which is wherever
# nvcc is. Sets CCCL_FOUND. Serves this project and the installed package.

find_package(CCCL CONFIG QUIET)
if(NOT CCCL_FOUND)
  find_package(CUDAToolkit QUIET)
  find_package(CCCL CONFIG QUIET HINTS ${CUDAToolkit_LIBRARY_ROOT} ${CUDAToolkit_TARGET_DIR}
               ${CUDAToolkit_LIBRARY_DIR}/cmake)
endif()
