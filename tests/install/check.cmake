# Installs BUILD_DIR below WORK_DIR, then configures, builds and tests the project beside this file against it.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "failed (${result}): ${command}")
  endif()
endfunction()

set(prefix "${WORK_DIR}/prefix")
file(REMOVE_RECURSE "${WORK_DIR}")
run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${prefix}" --config "${CONFIG}")
# Installed trees move: nothing in them may name the folder they were built for.
file(RENAME "${prefix}" "${prefix}-moved")
# The library in NCCL's place: ldconfig does not find it, which would make it every program's NCCL; and a program ends as
# it does without, also where no library of CUDA is on the loader's way.
file(GLOB in_nccls_place "${prefix}-moved/lib*/mscclc/libmscclc_nccl.so")
if(in_nccls_place AND NOT SANITIZE)
  find_program(ldconfig ldconfig PATHS /sbin /usr/sbin REQUIRED)
  file(GLOB folders "${prefix}-moved/lib*")
  execute_process(COMMAND "${ldconfig}" -v -N -n ${folders} OUTPUT_VARIABLE found ERROR_QUIET)
  if(NOT found MATCHES "libmscclc_runtime\\.so" OR found MATCHES "libnccl")
    message(FATAL_ERROR "ldconfig finds another NCCL, or nothing at all:\n${found}")
  endif()
  find_program(true_program true REQUIRED)
  run("${CMAKE_COMMAND}" -E env --unset=LD_LIBRARY_PATH "LD_PRELOAD=${in_nccls_place}" "${true_program}")
endif()
# A program that uses a sanitized library is sanitized itself.
set(flags "")
if(SANITIZE)
  set(flags "-DCMAKE_CXX_FLAGS=-fsanitize=${SANITIZE}")
endif()
run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/project" -B "${WORK_DIR}/build" -G "${GENERATOR}" ${flags}
  "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_PREFIX_PATH=${prefix}-moved" "-DALGORITHM=${SOURCE}")
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/build")
run("${CTEST}" --test-dir "${WORK_DIR}/build" --output-on-failure --no-tests=error)

# pkg-config finds the moved tree too.
find_program(PKG_CONFIG NAMES pkg-config pkgconf)
if(PKG_CONFIG AND NOT SANITIZE)
  file(GLOB_RECURSE pc "${prefix}-moved/*/mscclc.pc")
  cmake_path(GET pc PARENT_PATH pc_folder)
  execute_process(COMMAND "${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${pc_folder}" "${PKG_CONFIG}" --cflags --libs mscclc
                  OUTPUT_VARIABLE words OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
  separate_arguments(words UNIX_COMMAND "${words}")
  file(WRITE "${WORK_DIR}/version.cpp" "#include <cstdio>\n#include <mscclc/runtime.h>\n"
                                       "int main() { std::puts(mscclc_runtime_version()); }\n")
  run("${CXX_COMPILER}" "${WORK_DIR}/version.cpp" -o "${WORK_DIR}/version" ${words})
  cmake_path(GET pc_folder PARENT_PATH libraries)
  run("${CMAKE_COMMAND}" -E env "LD_LIBRARY_PATH=${libraries}:$ENV{LD_LIBRARY_PATH}" "${WORK_DIR}/version")
  # The command in the head of an emitted kernel works as it stands.
  find_program(NVCC nvcc)
  if(SOURCE AND NVCC)
    set(kernel "${WORK_DIR}/sendrecv.cu")
    run("${prefix}-moved/bin/mscclc" "${SOURCE}" --emit-cuda -o "${kernel}")
    file(STRINGS "${kernel}" command REGEX "^//   nvcc ")
    string(SUBSTRING "${command}" 5 -1 command)
    run("${CMAKE_COMMAND}" -E chdir "${WORK_DIR}" "${CMAKE_COMMAND}" -E env "PKG_CONFIG_PATH=${pc_folder}" sh -c
        "${command}")
    file(SIZE "${WORK_DIR}/libsendrecv.so" size)
  endif()
endif()

# What an included header changes, a build brings into the plan; without a change it does nothing.
if(SOURCE)
  set(plan "${WORK_DIR}/build/odd folder/headed.json")
  file(READ "${WORK_DIR}/build/odd.json" odd)
  file(READ "${plan}" before)
  file(TIMESTAMP "${plan}" made "%s%f")
  run("${CMAKE_COMMAND}" --build "${WORK_DIR}/build")
  file(TIMESTAMP "${plan}" unchanged "%s%f")
  execute_process(COMMAND "${CMAKE_COMMAND}" -E sleep 1)
  file(WRITE "${WORK_DIR}/build/odd folder/plan_name.hpp" "inline constexpr const char *planName = \"second\";\n")
  run("${CMAKE_COMMAND}" --build "${WORK_DIR}/build")
  file(READ "${plan}" after)
  if(NOT odd MATCHES "a b;c[$]d#e..f%g'h" OR NOT made STREQUAL unchanged OR NOT before MATCHES "\"first\"" OR
     NOT after MATCHES "\"second\"")
    message(FATAL_ERROR "a plan is not what its source, header and options say: ${made} ${unchanged} ${odd}")
  endif()
endif()
