# SPDX-License-Identifier: BSD-2-Clause
# How a library, a test and a benchmark are made.
include_guard(GLOBAL)
include(CheckLinkerFlag)

# The one language level and the one set of warnings of all that is built here.
function(ferry_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                                           $<$<BOOL:${FERRY_WERROR}>:-Werror>)
  # GCC may inline functions of the same source, as clang does: no program puts another function in the place of one of these.
  target_compile_options(${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fno-semantic-interposition>)
  # So that a linker can leave out what a program does not use, such as all that nets have for double.
  target_compile_options(
    ${target} PRIVATE $<$<COMPILE_LANG_AND_ID:CXX,GNU,Clang,AppleClang,IntelLLVM>:-ffunction-sections;-fdata-sections>)
  # Under sanitizers, of which GCC's manual warns, and at -O1 and -Og, g++ 12 takes the value of an empty std::optional for
  # one that is used.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_CXX_FLAGS MATCHES "-fsanitize|-O[1g]")
    target_compile_options(${target} PRIVATE -Wno-maybe-uninitialized)
  endif()
endfunction()

# ferry_optimise_loops(<target>): as -O3 does, also where only -O2 is asked for. The loops are vectorised even if a test at run
# time must show that they can be, and those of few rounds are written out. Not in Debug, which clang-tidy reads.
function(ferry_optimise_loops target)
  target_compile_options(
    ${target}
    PRIVATE
      $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<NOT:$<CONFIG:Debug>>>:-fvect-cost-model=dynamic;-fpeel-loops>)
endfunction()

# ferry_leave_out_unused(<program>): the linker leaves out what the program does not use of static libraries.
function(ferry_leave_out_unused program)
  check_linker_flag(CXX LINKER:--gc-sections FERRY_LINKER_HAS_GC_SECTIONS)
  if(FERRY_LINKER_HAS_GC_SECTIONS)
    target_link_options(${program} PRIVATE LINKER:--gc-sections)
  endif()
endfunction()

# ferry_add_library(<component> [<library>...]): ferry::<component>, which offers what the libraries do. The folders of
# core/ and backends/ add its sources.
function(ferry_add_library component)
  set(target ferry_${component})
  add_library(${target})
  add_library(ferry::${component} ALIAS ${target})
  ferry_compile_options(${target})
  set_target_properties(${target} PROPERTIES EXPORT_NAME ${component} VERSION ${PROJECT_VERSION}
                                             SOVERSION ${PROJECT_VERSION_MAJOR} POSITION_INDEPENDENT_CODE ON
                                             INSTALL_RPATH $<IF:$<PLATFORM_ID:Darwin>,@loader_path,$ORIGIN>)
  target_include_directories(
    ${target}
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> # headers
           $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include> # generated headers, under ferry/ too
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PUBLIC ${ARGN})
  set_property(GLOBAL APPEND PROPERTY FERRY_COMPONENTS ${component})
endfunction()

# The same for a component without code of its own.
function(ferry_add_name component)
  add_library(ferry_${component} INTERFACE)
  add_library(ferry::${component} ALIAS ferry_${component})
  set_target_properties(ferry_${component} PROPERTIES EXPORT_NAME ${component})
  target_link_libraries(ferry_${component} INTERFACE ${ARGN})
  set_property(GLOBAL APPEND PROPERTY FERRY_COMPONENTS ${component})
endfunction()

# The components, each behind those that it needs. ferry::ferry is all that a program without kernels of its own uses.
function(ferry_add_libraries)
  set_property(GLOBAL PROPERTY FERRY_COMPONENTS "")
  ferry_add_library(memory Threads::Threads)
  target_compile_options(ferry_memory PRIVATE ${FERRY_WALK_OPTIONS})
  # A hundred bytes are zeroed by stores, not by `rep stos`, which is slow to start: on an Intel Xeon it took half the time
  # of SyncedMemory's constructor.
  if(CMAKE_CXX_COMPILER_ID STREQUAL GNU AND CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
    target_compile_options(
      ferry_memory PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-mmemset-strategy=unrolled_loop:256:noalign,libcall:-1:noalign>)
  endif()
  set(all ferry_memory)
  if(FERRY_KERNELS)
    ferry_add_library(kernels ferry_memory)
    ferry_add_name(kokkos ferry_kernels Kokkos::kokkos)
    list(APPEND all ferry_kernels)
  endif()
  if(FERRY_PROTO)
    ferry_add_library(proto ferry_memory protobuf::libprotobuf)
    list(APPEND all ferry_proto)
  endif()
  ferry_add_name(ferry ${all})
  if(FERRY_NETS)
    ferry_add_library(nets ferry_ferry)
  endif()
endfunction()

# ferry_add_test(<name> SOURCES <file>... [LABELS <label>...] [LIBRARIES <library>...] [ARGS <argument>...])
# A Catch2 program, and a test that runs it. It may include the library's private headers. The labels are those beside
# the folder's.
function(ferry_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LABELS;LIBRARIES;ARGS")
  add_executable(${name} ${arg_SOURCES})
  ferry_compile_options(${name})
  target_compile_options(${name} PRIVATE ${FERRY_TEST_OPTIONS})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ferry::ferry Catch2::Catch2WithMain ${arg_LIBRARIES})
  if(TARGET test_headers)
    target_precompile_headers(${name} REUSE_FROM test_headers)
  endif()
  add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}")
endfunction()

# ferry_add_bench(<name> <source> [LIBRARIES <library>...])
# A Google Benchmark program, of the target benchmarks.
function(ferry_add_bench name source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LIBRARIES")
  add_executable(${name} EXCLUDE_FROM_ALL ${source})
  ferry_compile_options(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ferry::ferry benchmark::benchmark_main ${arg_LIBRARIES})
  add_dependencies(benchmarks ${name})
endfunction()
