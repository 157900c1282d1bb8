# The plug-in libtaeda_jit.so, which generates code with LLVM 19. Optional: without LLVM everything else builds, and compiled functions
# run in the interpreter. The search goes by file, because LLVM's own package file asks for libraries that are not needed here.
# SPDX-License-Identifier: Apache-2.0
find_path(TAEDA_LLVM_INCLUDE_DIR NAMES llvm/IR/IRBuilder.h PATHS /usr/lib/llvm-19/include NO_DEFAULT_PATH)
find_library(TAEDA_LLVM_LIBRARY NAMES LLVM-19 PATHS /usr/lib/llvm-19/lib NO_DEFAULT_PATH)
mark_as_advanced(TAEDA_LLVM_INCLUDE_DIR TAEDA_LLVM_LIBRARY)
if(NOT TAEDA_LLVM_INCLUDE_DIR OR NOT TAEDA_LLVM_LIBRARY)
  message(STATUS "[taeda] LLVM 19 not found: no code generator, compiled functions run in the interpreter (Debian: llvm-19-dev)")
  return()
endif()

file(GLOB taeda_jit_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/taeda/jit/*.cpp")
add_library(taeda_jit MODULE ${taeda_jit_sources})
target_include_directories(taeda_jit PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}")
target_include_directories(taeda_jit SYSTEM PRIVATE "${TAEDA_LLVM_INCLUDE_DIR}")
target_link_libraries(taeda_jit PRIVATE taeda_flags "${TAEDA_LLVM_LIBRARY}")
if(NOT TAEDA_SANITIZE)
  target_link_options(taeda_jit PRIVATE -Wl,--no-undefined)
endif()
if(TAEDA_SHARED)
  add_dependencies(taeda taeda_jit)
endif()
