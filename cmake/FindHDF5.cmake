# SPDX-License-Identifier: BSD-2-Clause
# HDF5's C library, which programs load: HDF5_SONAME, or else HDF5_LIBRARY, HDF5_INCLUDE_DIR with hdf5.h, and HDF5_VERSION.
# CMake's own module needs C as a language of the project.
# Distributions that have it once for each MPI hide the one without in folders of its own.
find_path(HDF5_INCLUDE_DIR H5public.h PATH_SUFFIXES hdf5/serial)
block()
  set(CMAKE_FIND_LIBRARY_SUFFIXES ${CMAKE_SHARED_LIBRARY_SUFFIX})
  find_library(HDF5_LIBRARY NAMES hdf5_serial hdf5 PATH_SUFFIXES hdf5/serial)
endblock()
mark_as_advanced(HDF5_INCLUDE_DIR HDF5_LIBRARY)

if(HDF5_INCLUDE_DIR)
  file(STRINGS ${HDF5_INCLUDE_DIR}/H5public.h HDF5_VERSION REGEX "^#define H5_VERS_(MAJOR|MINOR|RELEASE)")
  list(TRANSFORM HDF5_VERSION REPLACE "^#define [A-Z0-9_]+[ \t]+([0-9]+).*" "\\1")
  list(JOIN HDF5_VERSION "." HDF5_VERSION)
endif()

if(HDF5_LIBRARY)
  execute_process(COMMAND ${CMAKE_OBJDUMP} -p ${HDF5_LIBRARY} OUTPUT_VARIABLE HDF5_SONAME ERROR_QUIET)
  if(NOT HDF5_SONAME MATCHES "SONAME +([^ \n]+)") # not an ELF file
    get_filename_component(HDF5_SONAME ${HDF5_LIBRARY} NAME)
  else()
    set(HDF5_SONAME ${CMAKE_MATCH_1})
  endif()
endif()

include(FindPackageHandleStandardArgs)
find_package_handle_standard_args(HDF5 REQUIRED_VARS HDF5_LIBRARY HDF5_INCLUDE_DIR VERSION_VAR HDF5_VERSION)
