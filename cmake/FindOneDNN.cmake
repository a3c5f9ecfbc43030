# SPDX-License-Identifier: BSD-2-Clause
# OneDNN::OneDNN. Its own package asks for OpenCL where it was built with that, which code for processors does not need.
find_path(OneDNN_INCLUDE_DIR dnnl.hpp)
find_library(OneDNN_LIBRARY dnnl)
mark_as_advanced(OneDNN_INCLUDE_DIR OneDNN_LIBRARY)

set(OneDNN_VERSION "")
foreach(header dnnl_version.h oneapi/dnnl/dnnl_version.h)
  if(OneDNN_INCLUDE_DIR AND EXISTS ${OneDNN_INCLUDE_DIR}/${header})
    file(STRINGS ${OneDNN_INCLUDE_DIR}/${header} parts REGEX "define DNNL_VERSION_(MAJOR|MINOR|PATCH) +[0-9]+")
    list(TRANSFORM parts REPLACE ".* ([0-9]+).*" "\\1")
    if(parts)
      list(JOIN parts "." OneDNN_VERSION)
    endif()
  endif()
endforeach()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(OneDNN REQUIRED_VARS OneDNN_LIBRARY OneDNN_INCLUDE_DIR VERSION_VAR OneDNN_VERSION)

if(OneDNN_FOUND AND NOT TARGET OneDNN::OneDNN)
  add_library(OneDNN::OneDNN UNKNOWN IMPORTED)
  set_target_properties(OneDNN::OneDNN PROPERTIES IMPORTED_LOCATION ${OneDNN_LIBRARY}
                                                  INTERFACE_INCLUDE_DIRECTORIES ${OneDNN_INCLUDE_DIR})
endif()
