# SPDX-License-Identifier: BSD-2-Clause
# What a program that links Ferry's HIP backend needs beside Ferry: hip::host.
if(DEFINED ENV{ROCM_PATH})
  list(APPEND CMAKE_PREFIX_PATH $ENV{ROCM_PATH})
endif()
list(APPEND CMAKE_PREFIX_PATH /opt/rocm)
find_dependency(hip) # not the version: the package takes 6.0 for no substitute of 5.2
if(hip_VERSION VERSION_LESS 5.2)
  message(FATAL_ERROR "HIP ${hip_VERSION} is too old, 5.2 is needed")
endif()
