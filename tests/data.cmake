# INLAY_DATA: the folder with the small public data sets that some tests read. Tests that miss a
# file say so in a line that begins with "skipped: " and pass; cmake/test.sh counts those lines.

set(INLAY_DATA "$ENV{INLAY_DATA}" CACHE PATH "Folder with the test data, empty for none")
foreach(candidate shared/data ../shared/data)
  cmake_path(ABSOLUTE_PATH candidate BASE_DIRECTORY "${PROJECT_SOURCE_DIR}" NORMALIZE)
  if(NOT INLAY_DATA AND IS_DIRECTORY "${candidate}")
    set_property(CACHE INLAY_DATA PROPERTY VALUE "${candidate}")
  endif()
endforeach()
