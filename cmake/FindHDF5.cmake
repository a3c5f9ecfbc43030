# SPDX-License-Identifier: BSD-2-Clause
# HDF5::HDF5, its C library with hdf5.h, and HDF5_VERSION. CMake's own module needs C as a language of the project.
# Distributions that have it once for each MPI hide the one without in folders of its own.
find_path(HDF5_INCLUDE_DIR H5public.h PATH_SUFFIXES hdf5/serial)
find_library(HDF5_LIBRARY NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial)
mark_as_advanced(HDF5_INCLUDE_DIR HDF5_LIBRARY)

if(HDF5_INCLUDE_DIR)
  file(STRINGS ${HDF5_INCLUDE_DIR}/H5public.h HDF5_VERSION REGEX "^#define H5_VERS_(MAJOR|MINOR|RELEASE)")
  list(TRANSFORM HDF5_VERSION REPLACE "^#define [A-Z0-9_]+[ \t]+([0-9]+).*" "\\1")
  list(JOIN HDF5_VERSION "." HDF5_VERSION)
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(HDF5 REQUIRED_VARS HDF5_LIBRARY HDF5_INCLUDE_DIR VERSION_VAR HDF5_VERSION)

if(HDF5_FOUND AND NOT TARGET HDF5::HDF5)
  add_library(HDF5::HDF5 UNKNOWN IMPORTED)
  set_target_properties(HDF5::HDF5 PROPERTIES IMPORTED_LOCATION ${HDF5_LIBRARY}
                                              INTERFACE_INCLUDE_DIRECTORIES ${HDF5_INCLUDE_DIR})
endif()
