# SPDX-License-Identifier: BSD-2-Clause
# How the library, a test and a benchmark are made.
include_guard(GLOBAL)

# The one language level and the one set of warnings of all that is built here.
function(ferry_compile_options target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  set_target_properties(${target} PROPERTIES CXX_EXTENSIONS OFF)
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wpedantic -Wconversion -Wshadow
                                           $<$<BOOL:${FERRY_WERROR}>:-Werror>)
endfunction()

# The library; the folders of core/ and backends/ add their sources to it.
function(ferry_add_library)
  add_library(ferry)
  add_library(ferry::ferry ALIAS ferry)
  ferry_compile_options(ferry)
  set_target_properties(ferry PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}
                                         POSITION_INDEPENDENT_CODE ON)
  target_include_directories(
    ferry
    PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> # headers
           $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include> # generated headers, under ferry/ too
           $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>
    PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(ferry PUBLIC Threads::Threads)
endfunction()

# ferry_add_test(<name> SOURCES <file>... [LABELS <label>...] [LIBRARIES <library>...] [ARGS <argument>...])
# A Catch2 program, and a test that runs it. It may include the library's private headers. The labels are those beside
# the folder's.
function(ferry_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LABELS;LIBRARIES;ARGS")
  add_executable(${name} ${arg_SOURCES})
  ferry_compile_options(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ferry::ferry Catch2::Catch2WithMain ${arg_LIBRARIES})
  add_test(NAME ${name} COMMAND ${name} ${arg_ARGS})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABELS}")
endfunction()

# ferry_add_bench(<name> <source> [LIBRARIES <library>...])
# A Google Benchmark program, of the target benchmarks.
function(ferry_add_bench name source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "LIBRARIES")
  add_executable(${name} ${source})
  ferry_compile_options(${name})
  target_include_directories(${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE ferry::ferry benchmark::benchmark_main ${arg_LIBRARIES})
  add_dependencies(benchmarks ${name})
endfunction()
