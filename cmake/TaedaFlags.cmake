# Flags of this project's own targets: the target taeda_flags, linked privately and never exported; nothing is set globally.
# SPDX-License-Identifier: Apache-2.0
add_library(taeda_flags INTERFACE)
target_compile_features(taeda_flags INTERFACE cxx_std_20)
target_compile_options(taeda_flags INTERFACE
  -Wall -Wextra -ffp-contract=off -fvisibility=hidden -fvisibility-inlines-hidden
  -ffile-prefix-map=${CMAKE_CURRENT_SOURCE_DIR}/=  # error locations and debug information name files of this tree only
  $<$<BOOL:${TAEDA_WERROR}>:-Werror>
  $<$<CXX_COMPILER_ID:GNU>:-Wno-psabi;-Wno-restrict>  # -Wrestrict: false alarms on std::string in g++ 12 (GCC bug 105329)
  $<$<CONFIG:>:-O3;-DNDEBUG>)  # a parent project without a build type still gets an optimised library

if(TAEDA_SANITIZE)
  if(NOT TAEDA_SANITIZE MATCHES "^(address|undefined|thread|address,undefined)$")
    message(FATAL_ERROR "[taeda] TAEDA_SANITIZE is address, undefined, thread or address,undefined: got '${TAEDA_SANITIZE}'")
  endif()
  target_compile_options(taeda_flags INTERFACE
    -fsanitize=${TAEDA_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(taeda_flags INTERFACE -fsanitize=${TAEDA_SANITIZE})
  # Short loops are cut among the threads too, so that the tests' small inputs reach every parallel path.
  if(TAEDA_SANITIZE STREQUAL "thread")
    target_compile_definitions(taeda_flags INTERFACE TAEDA_SMALL_GRAINS)
  endif()
endif()

# ccache and mold when present. The variables live in this folder's scope: a parent project does not see them.
find_program(TAEDA_CCACHE ccache)
find_program(TAEDA_MOLD mold)
mark_as_advanced(TAEDA_CCACHE TAEDA_MOLD)
if(TAEDA_CCACHE AND NOT DEFINED CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER "${TAEDA_CCACHE}")
endif()
if(TAEDA_MOLD)
  target_link_options(taeda_flags INTERFACE $<$<NOT:$<BOOL:$<TARGET_PROPERTY:TAEDA_OTHER_LINKER>>>:-fuse-ld=mold>)
endif()
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_UNITY_BUILD ${TAEDA_UNITY})
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
endif()

# Relative relocations as a bitmap take a thirtieth of the room. The linker must know them, and that the C library must (glibc 2.36):
# mold 1.10 knows only the first, so the test runs what it links.
if(NOT CMAKE_CROSSCOMPILING)
  include(CheckCXXSourceRuns)
  set(CMAKE_REQUIRED_LINK_OPTIONS -fuse-ld=bfd -Wl,-z,pack-relative-relocs)
  check_cxx_source_runs("static int x; int* volatile p = &x; int main() { return *p; }" TAEDA_PACKS_RELOCATIONS)
  unset(CMAKE_REQUIRED_LINK_OPTIONS)
endif()
