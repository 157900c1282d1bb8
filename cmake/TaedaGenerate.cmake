# Runs the operator generator, tools/opgen, over taeda/ops. It runs while configuring, and every file it reads is a
# configure dependency: `cmake --build` configures again, and so generates again, whenever an operator changes, before
# anything is compiled. The generator rewrites only what changed, so only that is compiled again. This way the set of generated
# sources is always the one that is built, with any CMake backend and without a list kept by hand.
# SPDX-License-Identifier: Apache-2.0
find_package(Python3 3.9 REQUIRED COMPONENTS Interpreter)

set(TAEDA_GENERATED_DIR "${CMAKE_CURRENT_BINARY_DIR}/generated")
file(MAKE_DIRECTORY "${TAEDA_GENERATED_DIR}/taeda")
file(GLOB_RECURSE taeda_generator_inputs CONFIGURE_DEPENDS
  "${CMAKE_CURRENT_SOURCE_DIR}/taeda/ops/*.h" "${CMAKE_CURRENT_SOURCE_DIR}/taeda/ops/*.cpp"
  "${CMAKE_CURRENT_SOURCE_DIR}/tools/opgen/*.py")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${taeda_generator_inputs})

if(EXISTS "${CMAKE_CURRENT_SOURCE_DIR}/tools/opgen/main.py")
  execute_process(
    COMMAND "${CMAKE_COMMAND}" -E env PYTHONDONTWRITEBYTECODE=1 "${Python3_EXECUTABLE}"
      "${CMAKE_CURRENT_SOURCE_DIR}/tools/opgen/main.py"
      --src "${CMAKE_CURRENT_SOURCE_DIR}" --out "${TAEDA_GENERATED_DIR}"
    RESULT_VARIABLE status ERROR_VARIABLE errors)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "[taeda] the operator generator failed (status ${status}):\n${errors}")
  endif()
endif()
