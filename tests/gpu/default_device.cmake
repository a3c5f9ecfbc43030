# SPDX-License-Identifier: BSD-2-Clause
# Read by ctest. Tests that take any device take the host, as on a machine without a GPU.
if(NOT DEFINED ENV{FERRY_DEVICE})
  set(ENV{FERRY_DEVICE} host)
endif()
