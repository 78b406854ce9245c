# mscclc_room(NAME [CLOSED_SETS] [EXCEPT FOLDER…] [DEPENDS ROOM…]): a folder of the compiler as one static library
# mscclc_NAME. EXCEPT: folders in it that are libraries of their own.
#
# Sources are globbed, so a new file is built without being listed. Includes are written from the root. A room sees
# exactly the rooms that it names; tests/tools/check_layering.py checks the same from the text.
#
# A switch over an enumeration lists all of its values: what is added to one is found by the compiler. CLOSED_SETS: also
# where there is a `default`, which has no place there.
set(MSCCLC_WARNINGS -Wall -Wextra -Werror=switch)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 14)
  list(APPEND MSCCLC_WARNINGS -Wno-restrict) # false alarms on "literal" + std::string
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  list(APPEND MSCCLC_WARNINGS -Wno-deprecated-declarations) # of a function that libstdc++'s own algorithms call
endif()

# MSCCLC_PRECOMPILE: headers that most sources include are precompiled once for all rooms. On with Clang, whose time it
# halves. A build without it, as GCC's is, sees whether each source includes what it uses.
set(precompile_default OFF)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  set(precompile_default ON)
endif()
option(MSCCLC_PRECOMPILE "Precompile common headers" ${precompile_default})
if(MSCCLC_PRECOMPILE)
  add_library(mscclc_common_headers OBJECT EXCLUDE_FROM_ALL "${CMAKE_CURRENT_LIST_DIR}/common_headers.cpp")
  target_include_directories(mscclc_common_headers PRIVATE "${PROJECT_SOURCE_DIR}")
  target_precompile_headers(mscclc_common_headers PRIVATE "${CMAKE_CURRENT_LIST_DIR}/common_headers.h")
endif()

# mscclc_precompiled(TARGET): the sources of TARGET see the common headers precompiled, if the build has them.
function(mscclc_precompiled target)
  if(MSCCLC_PRECOMPILE)
    target_precompile_headers(${target} REUSE_FROM mscclc_common_headers)
  endif()
endfunction()

# MSCCLC_UNITY: so many sources of a folder are compiled as one; ON: all; OFF: each alone. On with sanitizers, where it
# halves the time of a build from nothing. Else ten, which saves a quarter: a change of one source compiles its nine
# neighbours. Off without precompiled headers, where it is seen whether each source includes what it uses.
set(unity_default OFF)
if(MSCCLC_SANITIZE)
  set(unity_default ON)
elseif(MSCCLC_PRECOMPILE)
  set(unity_default 10)
endif()
set(MSCCLC_UNITY ${unity_default} CACHE STRING "How many sources of a folder are compiled as one: a number, ON or OFF")

# mscclc_folders_as_one(TARGET): so are those of TARGET, if the build does that.
function(mscclc_folders_as_one target)
  if(NOT MSCCLC_UNITY)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
  get_target_property(sources ${target} SOURCES)
  foreach(source IN LISTS sources)
    cmake_path(ABSOLUTE_PATH source OUTPUT_VARIABLE folder)
    cmake_path(GET folder PARENT_PATH folder)
    cmake_path(RELATIVE_PATH folder BASE_DIRECTORY "${PROJECT_SOURCE_DIR}")
    string(MAKE_C_IDENTIFIER "${folder}" folder)
    set(group ${folder})
    if(MSCCLC_UNITY MATCHES "^[0-9]+$")
      list(APPEND ${folder}_sources "${source}")
      list(LENGTH ${folder}_sources number)
      math(EXPR part "(${number} - 1) / ${MSCCLC_UNITY}")
      string(APPEND group "_${part}")
    endif()
    set_property(SOURCE "${source}" PROPERTY UNITY_GROUP ${group})
  endforeach()
endfunction()

function(mscclc_room name)
  cmake_parse_arguments(ARG "CLOSED_SETS" "" "DEPENDS;EXCEPT" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  foreach(folder IN LISTS ARG_EXCEPT)
    list(FILTER sources EXCLUDE REGEX "^${CMAKE_CURRENT_SOURCE_DIR}/${folder}/")
  endforeach()
  if(NOT sources)
    add_library(mscclc_${name} INTERFACE)
    return()
  endif()
  add_library(mscclc_${name} STATIC ${sources})
  target_include_directories(mscclc_${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  foreach(dep IN LISTS ARG_DEPENDS)
    target_link_libraries(mscclc_${name} PUBLIC mscclc_${dep})
  endforeach()
  target_compile_options(mscclc_${name} PRIVATE ${MSCCLC_WARNINGS} $<$<BOOL:${ARG_CLOSED_SETS}>:-Werror=switch-enum>)
  mscclc_folders_as_one(mscclc_${name})
endfunction()

# mscclc_reads_xml(TARGET): the sources of TARGET see pugixml.
function(mscclc_reads_xml target)
  find_package(pugixml REQUIRED)
  get_target_property(pugixml_include pugixml::pugixml INTERFACE_INCLUDE_DIRECTORIES)
  target_include_directories(${target} SYSTEM PRIVATE "${pugixml_include}")
  # The archive where it is installed, so that the program needs no library beside it.
  find_library(MSCCLC_LIB_PUGIXML NAMES libpugixml.a pugixml)
  target_link_libraries(${target} PRIVATE "${MSCCLC_LIB_PUGIXML}")
endfunction()
