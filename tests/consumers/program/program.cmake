# The program that both consumers build, from whatever `inlay::` targets they have got.

set(here "${CMAKE_CURRENT_LIST_DIR}")

function(add_consumer)
  add_executable(consumer "${here}/main.cpp" "${here}/clicks.cpp")
  target_compile_definitions(
    consumer PRIVATE PACKAGE_MAJOR=${inlay_VERSION_MAJOR} PACKAGE_MINOR=${inlay_VERSION_MINOR}
                     PACKAGE_PATCH=${inlay_VERSION_PATCH} LINKS_EMULATED=$<BOOL:${EMULATED}>
                     LINKS_ZLIB=$<BOOL:${ZLIB}>)
  if(ZLIB)
    target_link_libraries(consumer PRIVATE inlay::zlib)
  elseif(TARGET inlay::zlib OR ZLIB_FOUND)
    message(FATAL_ERROR "nobody asked for zlib")
  endif()
  if(EMULATED)
    target_link_libraries(consumer PRIVATE inlay::emulated)
  else()
    target_link_libraries(consumer PRIVATE inlay::inlay)
    if(TARGET inlay::emulated OR CCCL_FOUND)
      message(FATAL_ERROR "nobody asked for CCCL")
    endif()
  endif()
endfunction()
