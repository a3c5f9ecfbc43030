# SPDX-License-Identifier: BSD-2-Clause
# All that Ferry needs, found on the machine and nowhere else.
set(CMAKE_FIND_PACKAGE_TARGETS_GLOBAL ON) # for a project that has Ferry as a subdirectory
find_package(Threads REQUIRED)
find_package(Kokkos 3.4 REQUIRED)
if(CMAKE_CXX_COMPILER MATCHES "hipcc[^/]*$") # it takes every file for HIP's; here only those that include Kokkos are
  add_compile_options("SHELL:-x c++")
  target_compile_options(Kokkos::kokkos INTERFACE "SHELL:-x hip")
endif()
foreach(backend cuda hip)
  string(TOUPPER ${backend} space)
  if(space IN_LIST Kokkos_DEVICES AND NOT FERRY_BACKEND STREQUAL backend)
    message(FATAL_ERROR "This Kokkos is for ${backend}, in ${Kokkos_DIR}: choose -DFERRY_BACKEND=${backend}, or another "
                        "Kokkos by -DKokkos_ROOT=.")
  endif()
endforeach()
if("OPENMP" IN_LIST Kokkos_DEVICES)
  set(FERRY_KOKKOS_FLAGS ${OpenMP_CXX_FLAGS}) # what its headers and its library ask of who has no targets
endif()
find_package(OpenBLAS REQUIRED)
find_package(spdlog 1.10 REQUIRED)

# From version 22 on, only protobuf's own package knows all of its libraries.
find_package(Protobuf CONFIG QUIET)
if(NOT Protobuf_FOUND)
  find_package(Protobuf 3.21 REQUIRED)
elseif(Protobuf_VERSION VERSION_LESS 3.21)
  message(FATAL_ERROR "protobuf ${Protobuf_VERSION} is too old, 3.21 is needed")
endif()

if(FERRY_TESTS)
  find_package(Catch2 3.4 REQUIRED)
endif()
if(FERRY_BENCH)
  find_package(benchmark REQUIRED)
endif()
