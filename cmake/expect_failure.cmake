# cmake [-DEXPECT=<sentence>] [-DSOURCE=<file>] -P expect_failure.cmake -- <command>...
#
# Succeeds only if the command fails and its output holds the sentence; with SOURCE, the sentence of
# each line "// expect: <sentence>" in that file. So a failure for another reason is not a success.

cmake_minimum_required(VERSION 3.25)

set(command "")
set(after_dashes FALSE)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(after_dashes)
    list(APPEND command "${CMAKE_ARGV${i}}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(after_dashes TRUE)
  endif()
endforeach()

set(sentences "${EXPECT}")
if(SOURCE)
  file(STRINGS "${SOURCE}" sentences REGEX "^// expect: ")
  list(TRANSFORM sentences REPLACE "^// expect: " "")
endif()
if(NOT sentences OR NOT command)
  message(FATAL_ERROR "nothing to expect: no sentence or no command")
endif()

execute_process(COMMAND ${command} RESULT_VARIABLE status OUTPUT_VARIABLE output
                ERROR_VARIABLE output)
if(status EQUAL 0)
  message(FATAL_ERROR "it succeeded, but had to fail with: ${sentences}")
endif()
foreach(sentence IN LISTS sentences)
  string(FIND "${output}" "${sentence}" position)
  if(position EQUAL -1)
    message(FATAL_ERROR "it failed without saying: ${sentence}\n${output}")
  endif()
endforeach()
