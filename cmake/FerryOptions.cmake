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

option(FERRY_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(FERRY_BENCH "Build the benchmarks" ${PROJECT_IS_TOP_LEVEL})
option(FERRY_EXAMPLES "Build the examples" ${PROJECT_IS_TOP_LEVEL})
option(FERRY_INSTALL "Install the library and its packages" ${PROJECT_IS_TOP_LEVEL})
option(FERRY_WERROR "Treat warnings as errors" OFF)
option(BUILD_SHARED_LIBS "Build a shared library" OFF)

if(PROJECT_IS_TOP_LEVEL AND NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()
