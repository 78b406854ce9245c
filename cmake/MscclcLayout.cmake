# mscclc_lay_out(TARGET OUTPUT TRAINING… [-- TRAINING…]…): an executable laid out as it runs, by layout/optimize_layout.py.
#
# A compilation runs through megabytes of Clang and LLVM once, so where the code lies decides a quarter of its time.
# MSCCLC_BOLT  lay the program out with LLVM's BOLT (on in a release build with LLVM linked statically, where BOLT is installed)
find_package(Python3 QUIET COMPONENTS Interpreter)
find_program(MSCCLC_LLVM_BOLT llvm-bolt PATHS "${LLVM_TOOLS_BINARY_DIR}" NO_DEFAULT_PATH)
set(bolt_default OFF)
if(MSCCLC_STATIC_LLVM AND CMAKE_BUILD_TYPE STREQUAL "Release" AND CMAKE_SYSTEM_NAME STREQUAL "Linux"
   AND CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64" AND NOT CMAKE_CROSSCOMPILING AND Python3_FOUND AND MSCCLC_LLVM_BOLT
   AND EXISTS "${LLVM_TOOLS_BINARY_DIR}/merge-fdata" AND EXISTS "${MSCCLC_LLVM_PREFIX}/lib/libbolt_rt_instr.a")
  set(bolt_default ON)
endif()
option(MSCCLC_BOLT "Lay the program out with BOLT" ${bolt_default})
message(STATUS "Laid out by BOLT: ${MSCCLC_BOLT}")
if(MSCCLC_BOLT AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  add_compile_options(-fno-reorder-blocks-and-partition) # BOLT leaves functions alone that GCC has split
endif()

function(mscclc_lay_out target output)
  set(layout "${PROJECT_SOURCE_DIR}/cmake/layout")
  target_link_options(${target} PRIVATE LINKER:--emit-relocs)
  add_custom_command(OUTPUT "${output}"
                     COMMAND "${Python3_EXECUTABLE}" -B "${layout}/optimize_layout.py" --tools "${LLVM_TOOLS_BINARY_DIR}"
                             --work "${PROJECT_BINARY_DIR}/layout" $<TARGET_FILE:${target}> "${output}" -- ${ARGN}
                     DEPENDS ${target} "${layout}/optimize_layout.py" "${layout}/touched_functions.py"
                     COMMENT "Laying out the program"
                     VERBATIM)
endfunction()
