# Tests: tests/<folder>/**/*_test.cpp make one executable taeda_test_<folder>, its cases registered with ctest under the
# label <folder>. tests/support/*.cpp is shared by all of them.
# SPDX-License-Identifier: Apache-2.0
find_package(GTest REQUIRED)
include(GoogleTest)

file(GLOB_RECURSE taeda_test_support_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/tests/support/*.cpp")
add_library(taeda_test_support INTERFACE)
target_link_libraries(taeda_test_support INTERFACE taeda::taeda taeda_flags taeda_dep::json GTest::gtest)
target_include_directories(taeda_test_support INTERFACE "${CMAKE_CURRENT_SOURCE_DIR}")
target_compile_definitions(taeda_test_support INTERFACE
  TAEDA_ORACLE_DEFAULT_DIR="${CMAKE_CURRENT_SOURCE_DIR}/tests/oracle"
  TAEDA_DIGITS_DIR="${CMAKE_CURRENT_SOURCE_DIR}/data/digits")
if(taeda_test_support_sources)
  add_library(taeda_test_support_sources STATIC ${taeda_test_support_sources})
  target_link_libraries(taeda_test_support_sources PUBLIC taeda_test_support)
endif()

file(GLOB_RECURSE taeda_test_sources CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}/tests"
  "${CMAKE_CURRENT_SOURCE_DIR}/tests/*_test.cpp")
set(taeda_test_folders "${taeda_test_sources}")
list(TRANSFORM taeda_test_folders REPLACE "/.*" "")
list(REMOVE_DUPLICATES taeda_test_folders)
foreach(folder IN LISTS taeda_test_folders)
  set(sources "${taeda_test_sources}")
  list(FILTER sources INCLUDE REGEX "^${folder}/")
  list(TRANSFORM sources PREPEND "${CMAKE_CURRENT_SOURCE_DIR}/tests/")
  add_executable(taeda_test_${folder} ${sources})
  set_target_properties(taeda_test_${folder} PROPERTIES
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}/tests")
  target_link_libraries(taeda_test_${folder} PRIVATE
    $<TARGET_NAME_IF_EXISTS:taeda_test_support_sources> taeda_test_support GTest::gtest_main)
  gtest_discover_tests(taeda_test_${folder} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${folder}."
    PROPERTIES LABELS ${folder} TIMEOUT 900)
endforeach()
