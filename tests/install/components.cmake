# Installs each component of the runtime of BUILD_DIR into an empty folder below WORK_DIR, and uses it there.
cmake_minimum_required(VERSION 3.25)

function(run)
  execute_process(COMMAND ${ARGV} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE error)
  set(output "${output}" PARENT_SCOPE)
  set(error "${error}" PARENT_SCOPE)
  if(NOT result EQUAL 0)
    list(JOIN ARGV " " command)
    message(FATAL_ERROR "failed (${result}): ${command}\n${output}${error}")
  endif()
endfunction()

# install_alone(COMPONENT WANTED… [MAY PATTERN]): its folder is ${prefix}. It has a file for each pattern in WANTED, and
# none besides but those of MAY.
function(install_alone component)
  set(prefix "${WORK_DIR}/${component}")
  run("${CMAKE_COMMAND}" --install "${BUILD_DIR}" --prefix "${prefix}-built" --component "${component}" --config "${CONFIG}")
  file(RENAME "${prefix}-built" "${prefix}") # nothing names the folder that it was installed in
  file(GLOB_RECURSE files RELATIVE "${prefix}" "${prefix}/*")
  cmake_parse_arguments(ARG "" "MAY" "" ${ARGN})
  foreach(pattern IN LISTS ARG_UNPARSED_ARGUMENTS)
    set(found "${files}")
    list(FILTER found INCLUDE REGEX "${pattern}")
    if(NOT found)
      message(FATAL_ERROR "the component ${component} has no file ${pattern}: ${files}")
    endif()
    list(FILTER files EXCLUDE REGEX "${pattern}")
  endforeach()
  if(ARG_MAY)
    list(FILTER files EXCLUDE REGEX "${ARG_MAY}")
  endif()
  if(files)
    message(FATAL_ERROR "the component ${component} has files of others: ${files}")
  endif()
  set(prefix "${prefix}" PARENT_SCOPE)
endfunction()

set(headers "^include/mscclc/device/kernel\\.cuh$" "^include/mscclc/")
set(package "^lib[^/]*/cmake/mscclc/mscclc-config\\.cmake$" "^lib[^/]*/cmake/mscclc/")
set(library "^lib.*/libmscclc_runtime\\.so")
file(REMOVE_RECURSE "${WORK_DIR}")

# The program of README, on a kernel that the compiler emits.
install_alone(headers ${headers} ${package})
file(READ "${SOURCE_DIR}/runtime-min/README.md" page)
if(NOT page MATCHES "```cpp\n(#include \"kernel\\.cu\"\n[^`]*)```")
  message(FATAL_ERROR "README shows no program that includes kernel.cu")
endif()
file(WRITE "${WORK_DIR}/program.cpp" "${CMAKE_MATCH_1}")
run("${COMPILER}" "${SOURCE_DIR}/samples/allgather_allpairs.cpp" -P ranks=2 --emit-cuda -o "${WORK_DIR}/kernel.cu")
set(compile "${CXX_COMPILER}" -std=c++17 -O1 -Wall -Werror -Wno-missing-field-initializers -pthread
  -I "${prefix}/include")
run(${compile} "${WORK_DIR}/program.cpp" -o "${WORK_DIR}/program")
run("${WORK_DIR}/program")
if(NOT output STREQUAL "0 to 15\n0 to 15\n")
  message(FATAL_ERROR "the program of README prints: ${output}")
endif()
set(kernel "${WORK_DIR}/libkernel.so")
run(${compile} -x c++ "${WORK_DIR}/kernel.cu" -shared -fPIC -o "${kernel}")

install_alone(runtime ${headers} ${package} ${library} "/pkgconfig/mscclc\\.pc$")
run("${CMAKE_COMMAND}" -S "${CMAKE_CURRENT_LIST_DIR}/project" -B "${WORK_DIR}/user" -G "${GENERATOR}"
  "-DCMAKE_CXX_COMPILER=${CXX_COMPILER}" "-DCMAKE_PREFIX_PATH=${prefix}" -DALGORITHM=)
run("${CMAKE_COMMAND}" --build "${WORK_DIR}/user")
run("${WORK_DIR}/user/user")

install_alone(perf ${library} "^bin/mscclc-perf$" MAY "^lib[^/]*/mscclc/libmscclc-experiments")
run("${prefix}/bin/mscclc-perf" --host -e 4K "${kernel}")
if(NOT output MATCHES "# kernel allgather_allpairs: .* 4096 .* 0\n$")
  message(FATAL_ERROR "mscclc-perf prints: ${output}")
endif()

# The package finds the library that it is installed with, without a variable that names it.
install_alone(python ${library} "^share/mscclc/python/mscclc/__init__\\.py$" "^share/mscclc/python/mscclc/")
file(WRITE "${WORK_DIR}/use.py" "
import ctypes, mscclc, pathlib, sys
prefix = pathlib.Path(sys.argv[2]).resolve()
assert pathlib.Path(mscclc.__file__).is_relative_to(prefix), mscclc.__file__
assert mscclc.install.runtime_library().is_relative_to(prefix), mscclc.install.runtime_library()
kernel, = mscclc.Kernel.load(sys.argv[1])
with mscclc.Communicator(2, platform='host') as ranks:
    data = ranks.allocate(64)
    for rank in range(2):
        ctypes.memset(data.address(rank) + 32 * rank, rank + 1, 32)
    ranks.launch(kernel, data, message_bytes=64, dtype='uint8')
    ranks.synchronize()
    for rank in range(2):
        assert ctypes.string_at(data.address(rank), 64) == bytes([1] * 32 + [2] * 32)
")
run("${CMAKE_COMMAND}" -E env --unset=MSCCLC_PREFIX --unset=MSCCLC_RUNTIME "PYTHONPATH=${prefix}/share/mscclc/python"
  "${PYTHON}" -B "${WORK_DIR}/use.py" "${kernel}" "${prefix}")

# Preloaded, with no NCCL behind it.
if(WITH_NCCL)
  install_alone(nccl ${library} "^lib[^/]*/mscclc/libmscclc_nccl\\.so$" MAY "^lib[^/]*/mscclc/kernels/")
  file(WRITE "${WORK_DIR}/use_nccl.py" "
import ctypes
ours = ctypes.CDLL('libnccl.so.2')
assert ours.mscclc_nccl_register(None, None, 0, 0, 0, None) == 100
assert ours.ncclGetUniqueId(ctypes.create_string_buffer(128)) == 5
")
  file(GLOB ours "${prefix}/lib*/mscclc/libmscclc_nccl.so")
  run("${CMAKE_COMMAND}" -E env --unset=LD_LIBRARY_PATH "LD_PRELOAD=${ours}" MSCCLC_NCCL_LIB_PATH=/none "${PYTHON}"
    "${WORK_DIR}/use_nccl.py")
  if(NOT error MATCHES "MSCCLC_NCCL_LIB_PATH is '/none', and there is no such file")
    message(FATAL_ERROR "without NCCL the library says: ${error}")
  endif()
endif()
