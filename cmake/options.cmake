# inlay_options: how this project compiles its own tests, benches and examples. Never linked by
# inlay::inlay, so no flag of it reaches a user.

add_library(inlay_options INTERFACE)

include(CheckCXXCompilerFlag)

set(warnings -Wall -Wextra -Wshadow -Wconversion -Wsign-conversion -Werror)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # g++ 12 sees overlapping copies in std::string (GCC bug 105651) and unset registers in its own
  # AVX-512 intrinsics (105593); neither is there.
  list(APPEND warnings -Wno-restrict -Wno-maybe-uninitialized)
endif()
list(JOIN warnings "," warnings_for_nvcc)
target_compile_options(
  inlay_options
  INTERFACE
    "$<$<COMPILE_LANGUAGE:CXX>:-Wpedantic;${warnings}>"
    # No -Wpedantic: the line markers that nvcc writes into its own output break it.
    "$<$<COMPILE_LANGUAGE:CUDA>:-Werror=all-warnings;-Xcompiler=${warnings_for_nvcc}>")

if(INLAY_NATIVE)
  check_cxx_compiler_flag(-march=native INLAY_HAS_MARCH_NATIVE)
  if(INLAY_HAS_MARCH_NATIVE)
    set(native -march=native)
    # Clang 19 warns about the features that it finds on some CPUs by itself.
    check_cxx_compiler_flag(-Wno-invalid-feature-combination INLAY_HAS_FEATURE_WARNING)
    if(INLAY_HAS_FEATURE_WARNING AND CMAKE_CXX_COMPILER_ID MATCHES "Clang")
      list(APPEND native -Wno-invalid-feature-combination)
    endif()
    # Host units only: the sums of a GPU do not change with the CPU beside it.
    target_compile_options(inlay_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:${native}>")
  endif()
endif()

if(INLAY_SANITIZE)
  set(sanitize -fsanitize=${INLAY_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_compile_options(inlay_options INTERFACE ${sanitize} -O1 -g)
  target_compile_definitions(inlay_options INTERFACE _GLIBCXX_ASSERTIONS)
  target_link_options(inlay_options INTERFACE ${sanitize})
endif()

# Only for this project's own builds: a user's launcher is the user's choice.
if(PROJECT_IS_TOP_LEVEL)
  find_program(INLAY_CCACHE ccache)
  mark_as_advanced(INLAY_CCACHE)
  foreach(language CXX CUDA)
    if(INLAY_CCACHE AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
      set(CMAKE_${language}_COMPILER_LAUNCHER ${INLAY_CCACHE})
    endif()
  endforeach()
endif()
