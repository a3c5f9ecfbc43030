# SPDX-License-Identifier: BSD-2-Clause
# The headers, the libraries, and what finds them: CMake's package and pkg-config's.
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/ferry)
get_property(components GLOBAL PROPERTY FERRY_COMPONENTS)
get_target_property(library_type ferry_memory TYPE)
set(FERRY_STATIC OFF)
if(library_type STREQUAL STATIC_LIBRARY)
  set(FERRY_STATIC ON)
endif()

foreach(component IN LISTS components)
  install(TARGETS ferry_${component} EXPORT ferry_${component}Targets)
  install(EXPORT ferry_${component}Targets NAMESPACE ferry:: DESTINATION ${package_dir})
endforeach()
if(NOT FERRY_KERNELS) # a header is there if its library is
  set(without PATTERN kokkos* EXCLUDE)
endif()
if(NOT FERRY_PROTO)
  list(APPEND without PATTERN proto.hpp EXCLUDE PATTERN blob.pb.h EXCLUDE)
endif()
if(NOT FERRY_NETS)
  list(APPEND without PATTERN nets* EXCLUDE)
endif()
install(DIRECTORY include/ferry ${PROJECT_BINARY_DIR}/include/ferry TYPE INCLUDE FILES_MATCHING PATTERN *.h* ${without})

configure_package_config_file(cmake/ferryConfig.cmake.in ferryConfig.cmake INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(ferryConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ferryConfig.cmake ${PROJECT_BINARY_DIR}/ferryConfigVersion.cmake
              cmake/FindCuDNN.cmake cmake/FindKokkos.cmake cmake/FindLMDB.cmake cmake/FindLevelDB.cmake
              cmake/FindMIOpen.cmake cmake/FindOneDNN.cmake cmake/FindOpenBLAS.cmake DESTINATION ${package_dir})
# What a static library needs for its backend.
install(FILES backends/${FERRY_BACKEND}/dependencies.cmake DESTINATION ${package_dir} OPTIONAL)

# ferry_install_pkg_config(<name> <description> [REQUIRES <module>...] [CFLAGS <flag>...] [LIBS <flag>...])
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY ${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig
           OUTPUT_VARIABLE pc_prefix)
function(ferry_install_pkg_config name description)
  cmake_parse_arguments(PARSE_ARGV 2 pc "" "" "REQUIRES;CFLAGS;LIBS")
  list(JOIN pc_REQUIRES ", " pc_requires)
  list(JOIN pc_CFLAGS " " pc_cflags)
  list(JOIN pc_LIBS " " pc_libs)
  configure_file(cmake/ferry.pc.in ${name}.pc.in @ONLY)
  file(GENERATE OUTPUT ${name}.pc INPUT ${PROJECT_BINARY_DIR}/${name}.pc.in)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
endfunction()

# A shared library brings all that it needs except what its own headers name; with a static one, the program links it.
foreach(component memory kernels)
  set(${component}_needs "")
  set(${component}_libs -lferry_${component})
endforeach()
set(kokkos_libs ${FERRY_KOKKOS_FLAGS} -ldl)
if(FERRY_KERNELS)
  set(kokkos_core $<IF:$<TARGET_EXISTS:Kokkos::kokkoscore>,Kokkos::kokkoscore,trilinos_kokkoscore>)
  list(PREPEND kokkos_libs $<TARGET_LINKER_FILE:${kokkos_core}>)
endif()
if(FERRY_STATIC)
  foreach(component memory kernels)
    get_property(backend_libs GLOBAL PROPERTY FERRY_${component}_LIBS)
    list(APPEND ${component}_libs ${backend_libs})
  endforeach()
  list(APPEND kernels_libs ${kokkos_libs})
  set(kernels_needs openblas)
endif()
set(of_this_version "= ${PROJECT_VERSION}")
ferry_install_pkg_config(ferry-memory "${PROJECT_DESCRIPTION}: arrays, blobs and devices" CFLAGS -pthread
                         LIBS ${memory_libs} -pthread)
set(all "ferry-memory ${of_this_version}")
if(FERRY_KERNELS)
  ferry_install_pkg_config(ferry-kernels "${PROJECT_DESCRIPTION}: kernels" LIBS ${kernels_libs}
                           REQUIRES "ferry-memory ${of_this_version}" ${kernels_needs})
  set(kokkos_folders $<TARGET_PROPERTY:Kokkos::kokkos,INTERFACE_INCLUDE_DIRECTORIES>
                     $<TARGET_PROPERTY:${kokkos_core},INTERFACE_INCLUDE_DIRECTORIES>)
  set(kokkos_folders "$<REMOVE_DUPLICATES:$<FILTER:${kokkos_folders},EXCLUDE,^$>>")
  ferry_install_pkg_config(ferry-kokkos "${PROJECT_DESCRIPTION}: kernels of your own, by Kokkos" LIBS ${kokkos_libs}
                           REQUIRES "ferry-kernels ${of_this_version}"
                           CFLAGS "$<$<BOOL:${kokkos_folders}>:-I$<JOIN:${kokkos_folders}, -I>>" ${FERRY_KOKKOS_FLAGS})
  list(APPEND all "ferry-kernels ${of_this_version}")
endif()
if(FERRY_PROTO)
  ferry_install_pkg_config(ferry-proto "${PROJECT_DESCRIPTION}: files of blobs" LIBS -lferry_proto
                           REQUIRES "ferry-memory ${of_this_version}" "protobuf >= 3.21")
  list(APPEND all "ferry-proto ${of_this_version}")
endif()
ferry_install_pkg_config(ferry "${PROJECT_DESCRIPTION}" REQUIRES ${all})
if(FERRY_NETS)
  set(nets_libs -lferry_nets)
  if(FERRY_STATIC)
    foreach(library ZLIB::ZLIB LMDB::LMDB LevelDB::LevelDB OneDNN::OneDNN CuDNN::CuDNN MIOpen opencv_core opencv_imgcodecs
                    opencv_imgproc)
      if(TARGET ${library})
        list(APPEND nets_libs $<TARGET_LINKER_FILE:${library}>)
      endif()
    endforeach()
    list(APPEND nets_libs ${kokkos_libs})
  endif()
  ferry_install_pkg_config(ferry-nets "${PROJECT_DESCRIPTION}: Caffe's nets" LIBS ${nets_libs}
                           REQUIRES "ferry ${of_this_version}" "protobuf >= 3.21")
endif()
