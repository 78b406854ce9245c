# cmake -DCOMPILER=… -DSOURCE=… -DTARGET=… -DDEPFILE=… -P MscclcDepends.cmake -- FLAGS…
# Writes which files an algorithm includes, system headers aside, as the C++ compiler's preprocessor finds them. Where
# that fails, the algorithm itself is all it depends on.
cmake_minimum_required(VERSION 3.25)
set(flags "")
set(after OFF)
math(EXPR last "${CMAKE_ARGC} - 1")
foreach(i RANGE ${last})
  if(after)
    string(REPLACE ";" "\\;" flag "${CMAKE_ARGV${i}}")
    list(APPEND flags "${flag}")
  elseif(CMAKE_ARGV${i} STREQUAL "--")
    set(after ON)
  endif()
endforeach()
execute_process(COMMAND "${COMPILER}" -std=c++20 ${flags} -MM -MG -MQ "${TARGET}" -MF "${DEPFILE}" -x c++ "${SOURCE}"
                RESULT_VARIABLE result OUTPUT_QUIET ERROR_QUIET)
if(NOT result EQUAL 0)
  file(WRITE "${DEPFILE}" "")
endif()
