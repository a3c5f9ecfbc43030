# SPDX-License-Identifier: BSD-2-Clause
# What a program that links Ferry's CUDA backend needs beside Ferry.
find_dependency(CUDAToolkit 12.0)
if(CUDA IN_LIST Kokkos_DEVICES)
  # Such a Kokkos asks whoever links it to link the driver, and nothing would start where there is none; Ferry finds it
  # at run time instead. And it asks for its compiler, but no device code is linked across files.
  get_target_property(kokkos_type Kokkos::kokkoscore TYPE)
  if(kokkos_type STREQUAL SHARED_LIBRARY)
    message(WARNING "This Kokkos is a shared library that needs the CUDA driver: programs will not start where there is "
                    "none. Build Kokkos static (Spack: kokkos+cuda~shared).")
  endif()
  set_target_properties(Kokkos::kokkoscore PROPERTIES INTERFACE_LINK_OPTIONS "")
  set_target_properties(Kokkos::CUDA PROPERTIES INTERFACE_LINK_LIBRARIES CUDA::cudart_static)
endif()
