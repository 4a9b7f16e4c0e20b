# cmake -DREADME=<file> -DEXAMPLE=<file> -P check_readme.cmake
# The program that the README shows must be what the example says, to the letter.
file(READ "${README}" readme)
file(READ "${EXAMPLE}" example)
string(FIND "${readme}" "```cpp\n" first)
string(SUBSTRING "${readme}" ${first} -1 shown)
string(SUBSTRING "${shown}" 7 -1 shown)
string(FIND "${shown}" "```" last)
string(SUBSTRING "${shown}" 0 ${last} shown)
string(FIND "${example}" "${shown}" at)
if(at EQUAL -1)
  message(FATAL_ERROR "The README's program is not what ${EXAMPLE} has. Copy it again.")
endif()
