# SPDX-License-Identifier: BSD-2-Clause
# CuDNN::CuDNN, with cudnn.h: beside the CUDA toolkit, or where distributions have it. Its own package is not with every
# way to install it.
find_package(CUDAToolkit QUIET)
find_path(CuDNN_INCLUDE_DIR cudnn.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
find_library(CuDNN_LIBRARY cudnn HINTS ${CUDAToolkit_LIBRARY_DIR})
mark_as_advanced(CuDNN_INCLUDE_DIR CuDNN_LIBRARY)

set(CuDNN_VERSION "")
if(CuDNN_INCLUDE_DIR AND EXISTS ${CuDNN_INCLUDE_DIR}/cudnn_version.h)
  file(STRINGS ${CuDNN_INCLUDE_DIR}/cudnn_version.h parts REGEX "^#define CUDNN_(MAJOR|MINOR|PATCHLEVEL) +[0-9]+")
  list(TRANSFORM parts REPLACE ".* ([0-9]+).*" "\\1")
  list(JOIN parts "." CuDNN_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(CuDNN REQUIRED_VARS CuDNN_LIBRARY CuDNN_INCLUDE_DIR CUDAToolkit_FOUND
                                  VERSION_VAR CuDNN_VERSION)

if(CuDNN_FOUND AND NOT TARGET CuDNN::CuDNN)
  add_library(CuDNN::CuDNN UNKNOWN IMPORTED)
  set_target_properties(CuDNN::CuDNN PROPERTIES IMPORTED_LOCATION ${CuDNN_LIBRARY}
                                                INTERFACE_INCLUDE_DIRECTORIES ${CuDNN_INCLUDE_DIR}
                                                INTERFACE_LINK_LIBRARIES CUDA::toolkit)
endif()
