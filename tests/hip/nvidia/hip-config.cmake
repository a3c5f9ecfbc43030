# SPDX-License-Identifier: BSD-2-Clause
# The package hip, with -Dhip_DIR=<this folder>: hip::host, made of HIP's headers for NVIDIA GPUs (5.2 to 5.7;
# -DCMAKE_PREFIX_PATH= says where) and of CUDA, so that HipRuntime runs where there is no AMD GPU. For the tests alone:
# what is built so is not to be installed.
include(CMakeFindDependencyMacro)
find_dependency(CUDAToolkit 12.0)
find_path(HIP_NVIDIA_INCLUDE_DIR hip/nvidia_detail/nvidia_hip_runtime_api.h)
if(NOT HIP_NVIDIA_INCLUDE_DIR)
  set(hip_FOUND FALSE)
  set(hip_NOT_FOUND_MESSAGE "HIP's headers for NVIDIA GPUs are not there")
  return()
endif()
file(STRINGS ${HIP_NVIDIA_INCLUDE_DIR}/hip/hip_version.h version REGEX "define HIP_VERSION_M(AJOR|INOR) ")
string(REGEX REPLACE "[^0-9]*([0-9]+)[^0-9]*([0-9]+)" "\\1.\\2" hip_VERSION "${version}")

if(NOT TARGET hip::host)
  add_library(hip::host INTERFACE IMPORTED)
  set_target_properties(hip::host PROPERTIES
                        INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR};${HIP_NVIDIA_INCLUDE_DIR}"
                        INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_NVIDIA__;__HIP_PLATFORM_NVCC__"
                        INTERFACE_LINK_LIBRARIES CUDA::cudart_static)
endif()
