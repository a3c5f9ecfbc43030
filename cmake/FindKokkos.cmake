# SPDX-License-Identifier: BSD-2-Clause
# Kokkos::kokkos, Kokkos_VERSION and Kokkos_DEVICES, by Kokkos' own package. That of Debian 12
# (libtrilinos-kokkos-dev) names an include folder that does not exist; here it becomes include/trilinos.
# The package also switches CXX extensions off for whoever finds it; that stays in the block.
block(SCOPE_FOR VARIABLES PROPAGATE Kokkos_DIR Kokkos_VERSION Kokkos_DEVICES Kokkos_INCLUDE_DIRS)
  set(CMAKE_CXX_EXTENSIONS OFF)
  set(Kokkos_FIND_QUIETLY TRUE)
  find_package(Kokkos CONFIG QUIET) # not the version: the package takes 4.0 for no substitute of 3.4
endblock()

if(TARGET Kokkos::kokkos AND Kokkos_INCLUDE_DIRS MATCHES "trilinos")
  set_target_properties(Kokkos::kokkos PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${Kokkos_INCLUDE_DIRS}")
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(Kokkos REQUIRED_VARS Kokkos_DIR VERSION_VAR Kokkos_VERSION)
