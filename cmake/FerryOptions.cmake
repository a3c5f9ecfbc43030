# SPDX-License-Identifier: BSD-2-Clause
# What can be chosen at configure time.
include(GNUInstallDirs)

# host and sim are in every build; each further folder of backends/ that builds is one that can be picked.
file(GLOB backends RELATIVE ${PROJECT_SOURCE_DIR}/backends CONFIGURE_DEPENDS
     ${PROJECT_SOURCE_DIR}/backends/*/CMakeLists.txt)
list(TRANSFORM backends REPLACE "/CMakeLists.txt$" "")
list(REMOVE_ITEM backends gpu sim)

set(FERRY_BACKEND host CACHE STRING "The accelerator to compile in: ${backends}")
set_property(CACHE FERRY_BACKEND PROPERTY STRINGS ${backends})
if(NOT FERRY_BACKEND IN_LIST backends)
  list(JOIN backends ", " backends)
  message(FATAL_ERROR "FERRY_BACKEND=${FERRY_BACKEND} is no accelerator to compile in; choose one of ${backends}. The backends "
                      "host and sim are in every build.")
endif()

# ferry::memory is in every build.
option(FERRY_KERNELS "Build ferry::kernels and ferry::kokkos, which need Kokkos and OpenBLAS" ON)
option(FERRY_PROTO "Build ferry::proto, which needs protobuf" ON)
include(CMakeDependentOption)
cmake_dependent_option(FERRY_NETS "Build ferry::nets, which needs ferry::kernels and ferry::proto" ON
                       "FERRY_KERNELS;FERRY_PROTO" OFF)

# ferry_optional(<NAME> <what for>): FERRY_<NAME>=AUTO uses a library of that name where it is found, ON needs it, and
# OFF does without.
function(ferry_optional name what)
  set(FERRY_${name} AUTO CACHE STRING "${what}: AUTO, ON or OFF")
  set_property(CACHE FERRY_${name} PROPERTY STRINGS AUTO ON OFF)
endfunction()
ferry_optional(ONEDNN "Let ferry::nets convolve on the host by oneDNN")
ferry_optional(CUDNN "Let ferry::nets convolve on NVIDIA's GPUs by cuDNN, with FERRY_BACKEND=cuda")
ferry_optional(MIOPEN "Let ferry::nets convolve on AMD's GPUs by MIOpen, with FERRY_BACKEND=hip")
ferry_optional(HDF5 "Let ferry::nets read and write HDF5")
ferry_optional(LMDB "Let ferry::nets read databases of LMDB")
ferry_optional(LEVELDB "Let ferry::nets read databases of LevelDB")
ferry_optional(OPENCV "Let ferry::nets read images, by OpenCV")

set(all_programs OFF)
if(PROJECT_IS_TOP_LEVEL AND FERRY_KERNELS AND FERRY_PROTO)
  set(all_programs ON)
endif()
option(FERRY_TESTS "Build the tests" ${all_programs})
option(FERRY_FUZZ "Have the fuzzers, too: with Clang, and under AddressSanitizer" OFF)
option(FERRY_BENCH "Have the targets benchmarks and gate" ${all_programs})
option(FERRY_EXAMPLES "Build the examples" ${all_programs})
cmake_dependent_option(FERRY_PROGRAM "Build the program ferry, which needs CLI11" "${PROJECT_IS_TOP_LEVEL}" FERRY_NETS OFF)
foreach(programs TESTS BENCH EXAMPLES)
  if(FERRY_${programs} AND NOT (FERRY_KERNELS AND FERRY_PROTO))
    message(FATAL_ERROR "FERRY_${programs}=ON needs all of Ferry: choose -DFERRY_KERNELS=ON -DFERRY_PROTO=ON, or "
                        "-DFERRY_${programs}=OFF.")
  endif()
endforeach()
option(FERRY_INSTALL "Install the libraries and their packages" ${PROJECT_IS_TOP_LEVEL})
option(FERRY_WERROR "Treat warnings as errors" OFF)
option(BUILD_SHARED_LIBS "Build shared libraries" OFF)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
