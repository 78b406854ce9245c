# LLVM and Clang for the front end, as the interface library mscclc_clang: headers and libraries.
#
# An optimised build takes the static libraries where they are installed: shared libraries cost a third of a
# compilation, and the program then needs no LLVM beside it but Clang's headers.
# LLVM's own package files are not used: they want every library that LLVM was ever built with. Sets
# MSCCLC_LLVM_PREFIX, LLVM_VERSION_MAJOR, LLVM_TOOLS_BINARY_DIR and MSCCLC_CLANG_RESOURCE_DIR.
set(MSCCLC_LLVM_DIR "" CACHE PATH "LLVM install prefix; empty: the newest found")

set(prefixes "${MSCCLC_LLVM_DIR}")
if(NOT MSCCLC_LLVM_DIR)
  foreach(version IN LISTS MSCCLC_LLVM_VERSIONS)
    list(APPEND prefixes "/usr/lib/llvm-${version}" "/usr/lib64/llvm${version}" "/opt/llvm-${version}")
  endforeach()
  list(APPEND prefixes "/usr" "/usr/local")
endif()

set(MSCCLC_LLVM_PREFIX "")
foreach(prefix IN LISTS prefixes)
  cmake_path(NORMAL_PATH prefix)
  set(config "${prefix}/include/llvm/Config/llvm-config.h")
  if(NOT EXISTS "${config}" OR NOT EXISTS "${prefix}/include/clang/AST/AST.h")
    continue()
  endif()
  file(STRINGS "${config}" line REGEX "^#define LLVM_VERSION_MAJOR ")
  string(REGEX MATCH "[0-9]+" LLVM_VERSION_MAJOR "${line}")
  if(NOT LLVM_VERSION_MAJOR IN_LIST MSCCLC_LLVM_VERSIONS)
    continue()
  endif()
  unset(MSCCLC_LIB_LLVM CACHE)
  unset(MSCCLC_LIB_CLANG CACHE)
  find_library(MSCCLC_LIB_LLVM NAMES LLVM-${LLVM_VERSION_MAJOR} LLVM
               PATHS "${prefix}/lib" "${prefix}/lib64" NO_DEFAULT_PATH)
  find_library(MSCCLC_LIB_CLANG NAMES clang-cpp PATHS "${prefix}/lib" "${prefix}/lib64" NO_DEFAULT_PATH)
  if(MSCCLC_LIB_LLVM AND MSCCLC_LIB_CLANG)
    set(MSCCLC_LLVM_PREFIX "${prefix}")
    break()
  endif()
endforeach()
if(NOT MSCCLC_LLVM_PREFIX)
  message(FATAL_ERROR "LLVM and Clang ${MSCCLC_OLDEST_LLVM} to ${MSCCLC_NEWEST_LLVM} with their shared libraries were not "
                      "found (Debian: libclang-${MSCCLC_NEWEST_LLVM}-dev and llvm-${MSCCLC_NEWEST_LLVM}-dev). "
                      "Set MSCCLC_LLVM_DIR to an install prefix, or MSCCLC_FRONTEND=OFF.")
endif()
message(STATUS "LLVM ${LLVM_VERSION_MAJOR} in ${MSCCLC_LLVM_PREFIX}")

set(LLVM_TOOLS_BINARY_DIR "${MSCCLC_LLVM_PREFIX}/bin")
foreach(dir "${MSCCLC_LLVM_PREFIX}/lib" "${MSCCLC_LLVM_PREFIX}/lib64")
  if(EXISTS "${dir}/clang/${LLVM_VERSION_MAJOR}/include/stddef.h")
    set(MSCCLC_CLANG_RESOURCE_DIR "${dir}/clang/${LLVM_VERSION_MAJOR}")
  endif()
endforeach()
if(NOT MSCCLC_CLANG_RESOURCE_DIR)
  message(FATAL_ERROR "Clang's own headers (stddef.h) were not found below ${MSCCLC_LLVM_PREFIX}/lib/clang "
                      "(Debian: libclang-common-${LLVM_VERSION_MAJOR}-dev)")
endif()

add_library(mscclc_clang INTERFACE)
target_include_directories(mscclc_clang SYSTEM INTERFACE "${MSCCLC_LLVM_PREFIX}/include")

cmake_path(GET MSCCLC_LIB_LLVM PARENT_PATH llvm_libs)
file(GLOB llvm_archives "${llvm_libs}/libclang[A-Z]*.a" "${llvm_libs}/libLLVM*.a")
find_library(MSCCLC_LIB_ZSTD NAMES libzstd.a zstd)
find_library(MSCCLC_LIB_Z NAMES libz.a z)
set(static_default OFF)
if(CMAKE_BUILD_TYPE MATCHES "Rel" AND NOT MSCCLC_SANITIZE AND MSCCLC_LIB_ZSTD AND MSCCLC_LIB_Z
   AND EXISTS "${llvm_libs}/libLLVMOrcJIT.a" AND EXISTS "${llvm_libs}/libclangCodeGen.a")
  set(static_default ON)
endif()
option(MSCCLC_STATIC_LLVM "Link LLVM and Clang statically" ${static_default})
if(MSCCLC_STATIC_LLVM)
  find_package(Threads REQUIRED)
  # The linker takes what it needs of the group, so no list of components has to follow LLVM's versions.
  target_link_libraries(mscclc_clang INTERFACE -Wl,--start-group ${llvm_archives} -Wl,--end-group -Wl,--gc-sections
                        "${MSCCLC_LIB_ZSTD}" "${MSCCLC_LIB_Z}" Threads::Threads)
  target_link_options(mscclc_clang INTERFACE -static-libstdc++ -static-libgcc)
  set(seccomp libseccomp.a)
else()
  set(seccomp "")
  target_link_libraries(mscclc_clang INTERFACE "${MSCCLC_LIB_CLANG}" "${MSCCLC_LIB_LLVM}")
endif()
message(STATUS "LLVM linked statically: ${MSCCLC_STATIC_LLVM}")

# Classes derived from LLVM's need its setting of RTTI.
set(exports "${MSCCLC_LLVM_PREFIX}/lib/cmake/llvm/LLVMConfig.cmake")
if(EXISTS "${exports}")
  file(STRINGS "${exports}" line REGEX "^set\\(LLVM_ENABLE_RTTI ")
  if(line MATCHES "OFF|NO|0")
    target_compile_options(mscclc_clang INTERFACE -fno-rtti)
    set(MSCCLC_LLVM_WITHOUT_RTTI ON)
  endif()
endif()

find_path(MSCCLC_SECCOMP_INCLUDE seccomp.h)
find_library(MSCCLC_SECCOMP_LIB NAMES ${seccomp} seccomp)
if(NOT MSCCLC_SECCOMP_INCLUDE OR NOT MSCCLC_SECCOMP_LIB)
  message(FATAL_ERROR "libseccomp was not found (Debian: libseccomp-dev)")
endif()
