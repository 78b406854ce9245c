# Installs what the target mscclc_program of BUILD_DIR builds, and no more, below WORK_DIR; then compiles an installed
# sample, by hand and from a project that finds the package.
#
# BUILD_DIR holds more than that by now. So its install scripts are copied to a folder of their own, and of the files that
# they name only those that the target builds, or that were there before the build.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output)
  set(output "${output}" PARENT_SCOPE)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "failed (${result}): ${command}\n${output}")
  endif()
endfunction()

# Paths of build files, relative to BUILD_DIR.
run("${NINJA}" -C "${BUILD_DIR}" -t inputs mscclc_program)
string(REPLACE "\n" ";" of_program "${output}")
run("${NINJA}" -C "${BUILD_DIR}" -t targets all)
string(REGEX REPLACE ": [^\n]*" "" built "${output}")
string(REPLACE "\n" ";" built "${built}")

# copy_script(FOLDER): the install script of a folder of BUILD_DIR, those that it includes, and their files.
function(copy_script folder)
  file(READ "${BUILD_DIR}/${folder}/cmake_install.cmake" script)
  string(REPLACE "${BUILD_DIR}" "${copy}" moved "${script}")
  file(WRITE "${copy}/${folder}/cmake_install.cmake" "${moved}")
  string(REPLACE ";" " " script "${script}")
  string(REGEX MATCHALL "\"${BUILD_DIR}/[^\"]+\"" paths "${script}")
  foreach(path IN LISTS paths)
    string(REPLACE "\"" "" path "${path}")
    cmake_path(RELATIVE_PATH path BASE_DIRECTORY "${BUILD_DIR}" OUTPUT_VARIABLE relative)
    if(relative MATCHES "^(.+)/cmake_install.cmake$")
      copy_script("${CMAKE_MATCH_1}")
    elseif(relative IN_LIST of_program OR "${relative}/stamp" IN_LIST of_program OR
           (EXISTS "${path}" AND NOT relative IN_LIST built))
      cmake_path(GET relative PARENT_PATH parent)
      file(COPY "${path}" DESTINATION "${copy}/${parent}")
    endif()
  endforeach()
endfunction()

set(copy "${WORK_DIR}/build")
set(prefix "${WORK_DIR}/prefix")
file(REMOVE_RECURSE "${WORK_DIR}")
copy_script(.)
run("${CMAKE_COMMAND}" --install "${copy}" --prefix "${prefix}")
file(GLOB runtime "${prefix}/lib*/libmscclc_runtime*" "${prefix}/bin/mscclc-perf")
if(runtime OR NOT EXISTS "${prefix}/include/mscclc/runtime.h")
  message(FATAL_ERROR "the runtime's headers are to be installed, but not what is not built: ${runtime}")
endif()

# The tree moves. clangd finds the header from the samples, and the program its precompiled DSL.
file(RENAME "${prefix}" "${prefix}-moved")
set(prefix "${prefix}-moved")
set(samples "${prefix}/share/mscclc/samples")
foreach(folder IN ITEMS "${samples}" "${samples}/auto" "${samples}/chunks" "${samples}/tutorial")
  file(READ "${folder}/.clangd" flags)
  string(REGEX MATCH "-I([^], ]+)" flag "${flags}")
  file(GLOB programs "${folder}/*.cpp")
  if(NOT flag OR NOT EXISTS "${folder}/${CMAKE_MATCH_1}/mscclc/dsl.hpp" OR NOT programs)
    message(FATAL_ERROR "clangd does not find <mscclc/dsl.hpp> from the installed samples: ${folder}: ${flags}")
  endif()
endforeach()
file(GLOB precompiled "${prefix}/lib/mscclc/*")
run("${prefix}/bin/mscclc" "${samples}/sendrecv.cpp" -P ranks=4 -o "${WORK_DIR}/plan.json")
file(READ "${WORK_DIR}/plan.json" plan)
if(NOT precompiled OR NOT plan MATCHES "\"name\": *\"sendrecv\"")
  message(FATAL_ERROR "an installed sample is not compiled as it should be: ${precompiled} ${plan}")
endif()

# Plans can be compiled; kernels want the runtime, and say so.
set(configure "${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/tool" -B "${WORK_DIR}/project" -G "${GENERATOR}"
  "-DCMAKE_PREFIX_PATH=${prefix}" "-DALGORITHM=${samples}/sendrecv.cpp")
run(${configure})
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/project")
file(READ "${WORK_DIR}/project/sendrecv.json" from_project)
if(NOT from_project STREQUAL plan)
  message(FATAL_ERROR "a project's plan is not that of the command line")
endif()
execute_process(COMMAND ${configure} -DKERNEL=ON RESULT_VARIABLE result OUTPUT_QUIET ERROR_VARIABLE error)
if(result EQUAL 0 OR NOT error MATCHES "the runtime of kernels is not installed")
  message(FATAL_ERROR "a kernel without the runtime is to be refused with the reason: ${result} ${error}")
endif()
