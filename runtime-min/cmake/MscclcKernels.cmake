# Functions that compile collectives while a project is built.
#
# mscclc_add_plan(TARGET SOURCE
#                 [ALGORITHM name] [PARAMS name=value…] [OPTIONS option…] [DEPENDS file…] [OUTPUT file])
#   Compiles an algorithm (.cpp) or a plan (.json) to an MSCCL++ plan. TARGET is built by default; its property
#   MSCCLC_PLAN is the plan's file (default: TARGET.json in the build folder).
#
# mscclc_add_kernel(TARGET SOURCE
#                   [ALGORITHM name] [PARAMS name=value…] [OPTIONS option…] [DEPENDS file…] [ARCHITECTURES arch…] [HOST]
#                   [NCCL_INCLUDE folder])
#   Bakes a kernel into a loadable library TARGET, whose kernels register themselves when it is loaded
#   (mscclc_load_library, or a link against it). It is compiled by nvcc, for ARCHITECTURES (default:
#   CMAKE_CUDA_ARCHITECTURES, or 90), or with HOST by the C++ compiler, for the CPU stand-in. OPTIONS --dtype=f64,i64
#   bakes it for these types of elements. The property MSCCLC_SOURCE is the emitted file. With NCCL_INCLUDE, the folder
#   of NCCL's headers, its port channels lead to other nodes where NCCL of that very version runs.
#
# Both are made anew when the source changes, a file that it includes, a file named by DEPENDS, or the compiler.
include_guard(GLOBAL)

# The command of a target, without its output; and in ${flags} what of it concerns the preprocessor.
function(_mscclc_command command flags source)
  cmake_parse_arguments(PARSE_ARGV 3 ARG "" "ALGORITHM" "PARAMS;OPTIONS")
  if(NOT TARGET mscclc::mscclc)
    message(FATAL_ERROR "mscclc: the compiler is not installed; set MSCCLC_EXECUTABLE to its path")
  endif()
  set(words mscclc::mscclc "${source}")
  if(ARG_ALGORITHM)
    list(APPEND words --algorithm "${ARG_ALGORITHM}")
  endif()
  foreach(param IN LISTS ARG_PARAMS)
    string(REPLACE ";" "\\;" param "${param}")
    list(APPEND words -P "${param}")
  endforeach()
  set(preprocessor "")
  set(separate OFF)
  foreach(option IN LISTS ARG_OPTIONS)
    string(REPLACE ";" "\\;" option "${option}")
    list(APPEND words "${option}")
    if(separate OR option MATCHES "^-[ID]")
      list(APPEND preprocessor "${option}")
    endif()
    if(option MATCHES "^-[ID]$")
      set(separate ON)
    else()
      set(separate OFF)
    endif()
  endforeach()
  set(${command} "${words}" PARENT_SCOPE)
  set(${flags} "${preprocessor}" PARENT_SCOPE)
endfunction()

# Runs mscclc on ${source}: `output` by its command, given the arguments after COMMAND.
function(_mscclc_add_output output source)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "COMMENT" "COMMAND;FLAGS;DEPENDS")
  set(depends "")
  foreach(file IN LISTS ARG_DEPENDS)
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
    list(APPEND depends "${file}")
  endforeach()
  # Not every build tool makes it.
  cmake_path(GET output PARENT_PATH folder)
  file(MAKE_DIRECTORY "${folder}")
  set(find_includes "")
  if(NOT source MATCHES "\\.(json|ir)$" AND CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang" AND
     CMAKE_GENERATOR MATCHES "Ninja|Makefiles")
    set(find_includes
      COMMAND "${CMAKE_COMMAND}" "-DCOMPILER=${CMAKE_CXX_COMPILER}" "-DSOURCE=${source}" "-DTARGET=${output}"
              "-DDEPFILE=${output}.d" -P "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/MscclcDepends.cmake"
              -- -isystem "${MSCCLC_INCLUDE_DIR}" ${ARG_FLAGS}
      DEPFILE "${output}.d")
  endif()
  add_custom_command(OUTPUT "${output}" COMMAND ${ARG_COMMAND} ${find_includes}
    DEPENDS "${source}" ${depends} mscclc::mscclc COMMENT "${ARG_COMMENT}" VERBATIM)
endfunction()

function(mscclc_add_plan target source)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "ALGORITHM;OUTPUT" "PARAMS;OPTIONS;DEPENDS")
  cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  _mscclc_command(command flags "${source}" ALGORITHM "${ARG_ALGORITHM}" PARAMS ${ARG_PARAMS} OPTIONS ${ARG_OPTIONS})
  if(NOT ARG_OUTPUT)
    set(ARG_OUTPUT "${target}.json")
  endif()
  cmake_path(ABSOLUTE_PATH ARG_OUTPUT BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE)
  _mscclc_add_output("${ARG_OUTPUT}" "${source}" COMMAND ${command} -o "${ARG_OUTPUT}" FLAGS ${flags}
    DEPENDS ${ARG_DEPENDS} COMMENT "Compiling the plan ${target}")
  add_custom_target(${target} ALL DEPENDS "${ARG_OUTPUT}")
  set_target_properties(${target} PROPERTIES MSCCLC_PLAN "${ARG_OUTPUT}")
endfunction()

function(mscclc_add_kernel target source)
  if(NOT TARGET mscclc::runtime)
    message(FATAL_ERROR "mscclc_add_kernel(${target}): the runtime of kernels is not installed; build all of mscclc "
                        "(cmake --build build/release), then install it again")
  endif()
  cmake_parse_arguments(PARSE_ARGV 2 ARG "HOST" "ALGORITHM;NCCL_INCLUDE" "PARAMS;OPTIONS;ARCHITECTURES;DEPENDS")
  cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  _mscclc_command(command flags "${source}" ALGORITHM "${ARG_ALGORITHM}" PARAMS ${ARG_PARAMS} OPTIONS ${ARG_OPTIONS})
  set(emitted "${CMAKE_CURRENT_BINARY_DIR}/${target}.cu")
  _mscclc_add_output("${emitted}" "${source}" COMMAND ${command} --emit-cuda -o "${emitted}" FLAGS ${flags}
    DEPENDS ${ARG_DEPENDS} COMMENT "Baking the kernel ${target}")
  if(ARG_HOST)
    set_source_files_properties("${emitted}" PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;c++")
  elseif(NOT CMAKE_CUDA_COMPILER)
    message(FATAL_ERROR "mscclc_add_kernel(${target}): enable_language(CUDA) first, or say HOST")
  endif()
  add_library(${target} SHARED "${emitted}")
  target_link_libraries(${target} PRIVATE mscclc::runtime)
  set_target_properties(${target} PROPERTIES MSCCLC_SOURCE "${emitted}")
  if(ARG_NCCL_INCLUDE)
    target_compile_definitions(${target} PRIVATE MSCCLC_GIN)
    target_include_directories(${target} SYSTEM PRIVATE "${ARG_NCCL_INCLUDE}")
  endif()
  if(ARG_HOST)
    target_compile_features(${target} PRIVATE cxx_std_17)
    return()
  endif()
  if(NOT ARG_ARCHITECTURES)
    set(ARG_ARCHITECTURES ${CMAKE_CUDA_ARCHITECTURES})
  endif()
  if(NOT ARG_ARCHITECTURES)
    set(ARG_ARCHITECTURES 90)
  endif()
  # The shared CUDA runtime: the kernel and mscclc::runtime then agree on a thread's current device.
  set_target_properties(${target} PROPERTIES
    CUDA_ARCHITECTURES "${ARG_ARCHITECTURES}" CUDA_STANDARD 17 CUDA_STANDARD_REQUIRED ON CUDA_RUNTIME_LIBRARY Shared)
endfunction()
