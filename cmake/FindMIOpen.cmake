# SPDX-License-Identifier: BSD-2-Clause
# MIOpen, by its own package, miopen, which takes 3.0 for no substitute of 2.18. What that needs is where it is itself.
set(MIOpen_prefix_path ${CMAKE_PREFIX_PATH})
list(APPEND CMAKE_PREFIX_PATH $ENV{ROCM_PATH} /opt/rocm)
find_package(miopen QUIET CONFIG)
set(CMAKE_PREFIX_PATH ${MIOpen_prefix_path})

include(FindPackageHandleStandardArgs)
set(MIOpen_VERSION ${miopen_VERSION})
find_package_handle_standard_args(MIOpen REQUIRED_VARS miopen_DIR miopen_FOUND VERSION_VAR MIOpen_VERSION)
