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
  if(NOT folder STREQUAL "simd")  # the library does the work: tests are compiled for a short build
    target_compile_options(taeda_test_${folder} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
  if(folder STREQUAL "torch_compat")  # programs that include <torch/torch.h>
    target_link_libraries(taeda_test_${folder} PRIVATE taeda_compat)
    target_compile_definitions(taeda_test_${folder} PRIVATE
      TAEDA_PRINTED_MODULES="${CMAKE_CURRENT_SOURCE_DIR}/tests/torch_compat/printed_modules.txt")
  endif()
  gtest_discover_tests(taeda_test_${folder} DISCOVERY_MODE PRE_TEST TEST_PREFIX "${folder}."
    PROPERTIES LABELS ${folder} TIMEOUT 900)
endforeach()

# The fuzzer of operators, for ./run fuzz; `ninja taeda_fuzz_ops` builds it.
add_executable(taeda_fuzz_ops EXCLUDE_FROM_ALL tests/fuzz/fuzz_ops.cpp tests/fuzz/call_text.cpp)
target_link_libraries(taeda_fuzz_ops PRIVATE taeda_test_support_sources taeda_test_support)

# The tree itself: rooms, lengths, licence lines, links; and that loading the library runs nothing.
add_test(NAME house.rooms COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/tools/check_rooms.py")
add_test(NAME house.tree COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/tools/check_house.py")
set(taeda_house_tests house.rooms house.tree)
if(TAEDA_SHARED AND NOT TAEDA_SANITIZE)
  add_test(NAME house.no_static_constructors
    COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/tools/check_house.py" --library $<TARGET_FILE:taeda>)
  list(APPEND taeda_house_tests house.no_static_constructors)
endif()
set_tests_properties(${taeda_house_tests} PROPERTIES LABELS house)

# Consumers: small projects outside this build, one for each way to use the library (tests/consumers/consumer.sh).
if(TAEDA_SHARED AND TAEDA_STATIC AND TAEDA_INSTALL AND NOT TAEDA_SANITIZE)
  foreach(kind install package static pkgconfig subdirectory)
    add_test(NAME consumer.${kind} COMMAND "${CMAKE_CURRENT_SOURCE_DIR}/tests/consumers/consumer.sh" ${kind}
      "${CMAKE_CURRENT_BINARY_DIR}" "${CMAKE_CURRENT_BINARY_DIR}/consumers" "${CMAKE_CURRENT_SOURCE_DIR}")
    set_tests_properties(consumer.${kind} PROPERTIES LABELS consumer RUN_SERIAL ON TIMEOUT 900
      ENVIRONMENT "CXX=${CMAKE_CXX_COMPILER}" FIXTURES_REQUIRED installed)
  endforeach()
  set_tests_properties(consumer.install PROPERTIES FIXTURES_REQUIRED "" FIXTURES_SETUP installed)
  set_tests_properties(consumer.subdirectory PROPERTIES FIXTURES_REQUIRED "")
endif()

# The program from outside (tests/cli), and what the tutorial says, with the library as it is installed.
if(TARGET taeda_cli)
  foreach(part HelpTest SettingsTest TrainTest DataTest DamageTest InterruptTest TerminalTest BenchTest GraphTest)
    add_test(NAME cli.${part} COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/tests/cli/cli_test.py" ${part})
    list(APPEND taeda_cli_tests cli.${part})
  endforeach()
  add_test(NAME cli.tensorboard COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/tests/cli/tensorboard_test.py")
  set_tests_properties(${taeda_cli_tests} cli.tensorboard PROPERTIES LABELS cli TIMEOUT 900 SKIP_RETURN_CODE 77
    ENVIRONMENT "TAEDA_PROGRAM=$<TARGET_FILE:taeda_cli>;PYTHONDONTWRITEBYTECODE=1")
  if(TEST consumer.install)
    add_test(NAME guide.tutorial COMMAND "${Python3_EXECUTABLE}" "${CMAKE_CURRENT_SOURCE_DIR}/tests/guide/tutorial_test.py"
      "${CMAKE_CURRENT_SOURCE_DIR}" "${CMAKE_CURRENT_BINARY_DIR}/consumers/moved")
    set_tests_properties(guide.tutorial PROPERTIES LABELS "guide;consumer" TIMEOUT 900 FIXTURES_REQUIRED installed
      ENVIRONMENT "CXX=${CMAKE_CXX_COMPILER}")
  endif()
endif()
