# SPDX-License-Identifier: BSD-2-Clause
# The headers, the library, and what finds them: CMake's package and pkg-config's.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ferry)

install(TARGETS ferry EXPORT ferryTargets)
install(DIRECTORY include/ferry ${PROJECT_BINARY_DIR}/include/ferry TYPE INCLUDE FILES_MATCHING PATTERN *.h*)
install(EXPORT ferryTargets NAMESPACE ferry:: DESTINATION ${package_dir})

configure_package_config_file(cmake/ferryConfig.cmake.in ferryConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(ferryConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ferryConfig.cmake ${PROJECT_BINARY_DIR}/ferryConfigVersion.cmake
              cmake/FindKokkos.cmake cmake/FindOpenBLAS.cmake DESTINATION ${package_dir})
# What a static library needs for its backend: the find_dependency calls, and the libraries for pkg-config.
install(FILES backends/${FERRY_BACKEND}/dependencies.cmake DESTINATION ${package_dir} OPTIONAL)
get_property(backend_libs GLOBAL PROPERTY FERRY_BACKEND_LIBS)

# A shared library brings all that it needs but what its own headers name; with a static one, the program links it.
set(pc_requires "protobuf >= 3.21")
get_target_property(library_type ferry TYPE)
if(library_type STREQUAL STATIC_LIBRARY)
  string(APPEND pc_requires ", spdlog >= 1.10, openblas")
  set(kokkos_core $<IF:$<TARGET_EXISTS:Kokkos::kokkoscore>,Kokkos::kokkoscore,trilinos_kokkoscore>)
  set(pc_libs "$<TARGET_LINKER_FILE:${kokkos_core}> ${backend_libs} ${FERRY_KOKKOS_FLAGS} -ldl")
endif()
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
           OUTPUT_VARIABLE pc_prefix)
configure_file(cmake/ferry.pc.in ferry.pc.in @ONLY)
file(GENERATE OUTPUT ferry.pc INPUT ${PROJECT_BINARY_DIR}/ferry.pc.in)
install(FILES ${PROJECT_BINARY_DIR}/ferry.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
