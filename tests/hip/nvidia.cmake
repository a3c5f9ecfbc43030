# SPDX-License-Identifier: BSD-2-Clause
# hip::host, made of HIP's headers for NVIDIA GPUs (5.2 to 5.7; -DCMAKE_PREFIX_PATH= says where) and of CUDA, so that
# HipRuntime runs where there is no AMD GPU.
set(FERRY_INSTALL OFF CACHE BOOL "What is built so is for the tests alone" FORCE)
find_dependency(CUDAToolkit 12.0)
find_path(HIP_NVIDIA_INCLUDE_DIR hip/nvidia_detail/nvidia_hip_runtime_api.h REQUIRED)

add_library(hip::host INTERFACE IMPORTED GLOBAL)
set_target_properties(hip::host PROPERTIES
                      INTERFACE_INCLUDE_DIRECTORIES "${CMAKE_CURRENT_LIST_DIR}/nvidia;${HIP_NVIDIA_INCLUDE_DIR}"
                      INTERFACE_COMPILE_DEFINITIONS "__HIP_PLATFORM_NVIDIA__;__HIP_PLATFORM_NVCC__"
                      INTERFACE_LINK_LIBRARIES CUDA::cudart_static)
