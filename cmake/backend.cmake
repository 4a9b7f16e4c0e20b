# inlay::emulated and inlay::cuda, the targets of the two builds that have device algorithms, and
# inlay_backend, which is whatever INLAY_BACKEND names. The words "cannot build here:" tell
# cmake/test.sh that the machine lacks something, as opposed to the project being broken.

add_library(inlay_backend INTERFACE)

if(INLAY_BACKEND STREQUAL "host")
  target_link_libraries(inlay_backend INTERFACE inlay::inlay)

elseif(INLAY_BACKEND STREQUAL "emulated")
  include(cmake/find_cccl.cmake)
  if(NOT CCCL_FOUND)
    message(FATAL_ERROR "cannot build here: no CCCL (it comes with CUDA: put nvcc on PATH)")
  endif()
  set(inlay_target_scope GLOBAL)
  include(cmake/emulated.cmake)
  target_link_libraries(inlay_backend INTERFACE inlay::emulated)

elseif(INLAY_BACKEND STREQUAL "cuda")
  find_package(CUDAToolkit QUIET)
  if(NOT CUDAToolkit_FOUND OR NOT CUDAToolkit_NVCC_EXECUTABLE)
    message(FATAL_ERROR "cannot build here: no nvcc (put it on PATH)")
  endif()

  # CMake 3.25 would default to an architecture that CUDA 13 has dropped.
  set(CMAKE_CUDA_ARCHITECTURES 90 CACHE STRING "GPU architectures to compile for")
  set(CMAKE_CUDA_COMPILER "${CUDAToolkit_NVCC_EXECUTABLE}" CACHE FILEPATH "The CUDA compiler")
  enable_language(CUDA)

  add_library(inlay_cuda INTERFACE)
  add_library(inlay::cuda ALIAS inlay_cuda)
  # Written out because CMake 3.25 does not know cuda_std_20 for nvcc 13.
  target_compile_options(inlay_cuda INTERFACE "$<$<COMPILE_LANGUAGE:CUDA>:-std=c++20>")
  target_link_libraries(inlay_cuda INTERFACE inlay::inlay)
  target_link_libraries(inlay_backend INTERFACE inlay::cuda)

else()
  message(FATAL_ERROR "INLAY_BACKEND is '${INLAY_BACKEND}'; it must be host, emulated or cuda")
endif()

# One source, several builds: hands the named .cpp files to nvcc in the cuda build.
function(inlay_compile_for_backend)
  if(INLAY_BACKEND STREQUAL "cuda")
    set_source_files_properties(${ARGN} PROPERTIES LANGUAGE CUDA)
  endif()
endfunction()
