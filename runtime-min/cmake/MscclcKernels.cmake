# Functions that compile collectives while a project is built.
#
# mscclc_add_plan(TARGET SOURCE
#                 [ALGORITHM name] [PARAMS name=value…] [OPTIONS option…] [OUTPUT file])
#   Compiles an algorithm (.cpp) or a plan (.json) to an MSCCL++ plan. TARGET is built by default; its property
#   MSCCLC_PLAN is the plan's file (default: TARGET.json in the build folder).
#
# mscclc_add_kernel(TARGET SOURCE
#                   [ALGORITHM name] [PARAMS name=value…] [OPTIONS option…] [ARCHITECTURES arch…] [HOST])
#   Bakes a kernel into a loadable library TARGET, whose kernels register themselves when it is loaded
#   (mscclc_load_library, or a link against it). It is compiled by nvcc, for ARCHITECTURES (default:
#   CMAKE_CUDA_ARCHITECTURES, or 90), or with HOST by the C++ compiler, for the CPU stand-in. The property
#   MSCCLC_SOURCE is the emitted file.
include_guard(GLOBAL)

function(_mscclc_command out source)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "ALGORITHM" "PARAMS;OPTIONS")
  if(NOT TARGET mscclc::mscclc)
    message(FATAL_ERROR "mscclc: the compiler is not installed; set MSCCLC_EXECUTABLE to its path")
  endif()
  cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  set(command mscclc::mscclc "${source}")
  if(ARG_ALGORITHM)
    list(APPEND command --algorithm "${ARG_ALGORITHM}")
  endif()
  foreach(param IN LISTS ARG_PARAMS)
    list(APPEND command -P "${param}")
  endforeach()
  list(APPEND command ${ARG_OPTIONS})
  set(${out} "${command}" PARENT_SCOPE)
endfunction()

function(mscclc_add_plan target source)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "" "ALGORITHM;OUTPUT" "PARAMS;OPTIONS")
  _mscclc_command(command "${source}" ALGORITHM "${ARG_ALGORITHM}" PARAMS ${ARG_PARAMS} OPTIONS ${ARG_OPTIONS})
  if(NOT ARG_OUTPUT)
    set(ARG_OUTPUT "${target}.json")
  endif()
  cmake_path(ABSOLUTE_PATH ARG_OUTPUT BASE_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}" NORMALIZE)
  cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  add_custom_command(OUTPUT "${ARG_OUTPUT}"
    COMMAND ${command} -o "${ARG_OUTPUT}"
    DEPENDS "${source}" mscclc::mscclc
    COMMENT "Compiling the plan ${target}" VERBATIM)
  add_custom_target(${target} ALL DEPENDS "${ARG_OUTPUT}")
  set_target_properties(${target} PROPERTIES MSCCLC_PLAN "${ARG_OUTPUT}")
endfunction()

function(mscclc_add_kernel target source)
  cmake_parse_arguments(PARSE_ARGV 2 ARG "HOST" "ALGORITHM" "PARAMS;OPTIONS;ARCHITECTURES")
  _mscclc_command(command "${source}" ALGORITHM "${ARG_ALGORITHM}" PARAMS ${ARG_PARAMS} OPTIONS ${ARG_OPTIONS})
  cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}" NORMALIZE)
  set(emitted "${CMAKE_CURRENT_BINARY_DIR}/${target}.cu")
  add_custom_command(OUTPUT "${emitted}"
    COMMAND ${command} --emit-cuda -o "${emitted}"
    DEPENDS "${source}" mscclc::mscclc
    COMMENT "Baking the kernel ${target}" VERBATIM)
  if(ARG_HOST)
    set_source_files_properties("${emitted}" PROPERTIES LANGUAGE CXX COMPILE_OPTIONS "-x;c++")
  elseif(NOT CMAKE_CUDA_COMPILER)
    message(FATAL_ERROR "mscclc_add_kernel(${target}): enable_language(CUDA) first, or say HOST")
  endif()
  add_library(${target} SHARED "${emitted}")
  target_link_libraries(${target} PRIVATE mscclc::runtime)
  set_target_properties(${target} PROPERTIES MSCCLC_SOURCE "${emitted}")
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
