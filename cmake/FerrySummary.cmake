# SPDX-License-Identifier: BSD-2-Clause
message(STATUS "Ferry ${PROJECT_VERSION}")
message(STATUS "  backend   ${FERRY_BACKEND}, beside host and sim")
message(STATUS "  Kokkos    ${Kokkos_VERSION}, spaces: ${Kokkos_DEVICES}")
message(STATUS "  BLAS      ${OpenBLAS_LIBRARY}")
message(STATUS "  protobuf  ${Protobuf_VERSION}")
message(STATUS "  spdlog    ${spdlog_VERSION}")
