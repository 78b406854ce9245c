# Packages: scripts/package builds what they hold, and makes a relocatable archive (.tar.xz) and a package of Debian (.deb).
#
# With LLVM linked statically, the compiler needs no LLVM beside it but Clang's own headers, which are installed here to
# lib/mscclc/clang. Without LLVM's static libraries a package needs those that it was built with. It needs the headers of
# a C++ library in any case.
if(MSCCLC_FRONTEND)
  # Headers of other processors and languages are most of their bytes, and no algorithm can use them.
  install(DIRECTORY "${MSCCLC_CLANG_RESOURCE_DIR}/include" DESTINATION lib/mscclc/clang COMPONENT clang-headers EXCLUDE_FROM_ALL
          REGEX "/(arm|riscv|altivec|hlsl|opencl|amo|mma|vec|s390|velintrin|hexagon|hvx|lasx|lsx|wasm|spirv|amd)[^/]*$" EXCLUDE
          REGEX "/(__clang_(cuda|hip|spirv)|openmp_wrappers|cuda_wrappers|llvm_libc_wrappers|ppc_wrappers|llvm_offload)[^/]*" EXCLUDE
          REGEX "/(sanitizer|xray|orc|fuzzer|profile)$" EXCLUDE)
endif()

set(CPACK_GENERATOR TXZ DEB)
set(CPACK_PACKAGE_NAME mscclc)
set(CPACK_PACKAGE_CONTACT "the mscclc developers")
set(CPACK_PACKAGE_VENDOR "the mscclc developers")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${PROJECT_DESCRIPTION}")
set(CPACK_PACKAGE_FILE_NAME "mscclc-${PROJECT_VERSION}-linux-${CMAKE_SYSTEM_PROCESSOR}")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_ARCHIVE_THREADS 0)
set(CPACK_PACKAGE_DIRECTORY "${PROJECT_BINARY_DIR}/packages")
set(CPACK_PACKAGE_CHECKSUM SHA256)
# One package of all components, the headers of Clang among them.
set(CPACK_COMPONENTS_ALL compiler headers runtime nccl python perf clang-headers)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
# Read again for each generator.
set(CPACK_PROJECT_CONFIG_FILE "${CMAKE_CURRENT_LIST_DIR}/MscclcPackageOf.cmake")
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libstdc++-14-dev | libstdc++-13-dev | libstdc++-12-dev | libstdc++-dev")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "g++, make")
# Some tests are built by `all`, and no package holds them.
set(CMAKE_SKIP_PACKAGE_ALL_DEPENDENCY ON)
include(CPack)
