# The library: every source of taeda/<room>/ but the program's and the code generator's, compiled once and packed twice (libtaeda.so, libtaeda.a).
# SPDX-License-Identifier: Apache-2.0
file(GLOB_RECURSE taeda_sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/taeda/*.cpp")
list(FILTER taeda_sources EXCLUDE REGEX "${CMAKE_CURRENT_SOURCE_DIR}/taeda/(cli|jit)/")
file(GLOB_RECURSE taeda_generated_sources "${TAEDA_GENERATED_DIR}/*.cpp")
if(NOT taeda_sources AND NOT taeda_generated_sources)  # an empty library is still a library
  file(CONFIGURE OUTPUT empty.cpp CONTENT "// No sources yet.\n")
  set(taeda_generated_sources "${CMAKE_CURRENT_BINARY_DIR}/empty.cpp")
endif()

set(taeda_private_dependencies taeda_dep::hwy taeda_dep::dnnl taeda_dep::openblas taeda_dep::jpeg taeda_dep::png
  taeda_dep::zlib Threads::Threads ${CMAKE_DL_LIBS})

# It includes the headers of modules with another meaning of one macro.
set_source_files_properties("${CMAKE_CURRENT_SOURCE_DIR}/taeda/nn/instantiate.cpp" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
# Rooms and operators whose own code is not what takes the time (their kernels' is): small rather than unrolled. GCC 12 then warns of
# variables in std::optional that are set.
string(JOIN "|" taeda_small_operators
  advanced_index attention batch_norm conv distance einsum embedding_bag fold from_data gradient grid_sample inplace_view interpolate
  linalg linalg_more linalg_solve loss_class loss_ctc loss_functional loss_margin mask_index masked multi_head norm pad pixel
  pointwise_composite pool pool_forms print random_factory ranges rearrange reduce_minmax reduce_moments reduce_norm registry rnn
  rnn_layers scan sequences softmax sort statistics unique unpool view_alias windows
  generated/pointwise_bessel generated/pointwise_integer generated/pointwise_rounding generated/pointwise_special)
set(taeda_small_sources ${taeda_sources} ${taeda_generated_sources})
list(FILTER taeda_small_sources INCLUDE REGEX "/taeda/(\
(nn|io|train|graph)/|data/(csv|idx|image_folder|table_encoder|text)|autograd/(anomaly|functional|gradcheck)|\
compile/(check|explain|record_step|static_record|kernel/(compile_kernel|disk_cache|expression|lower|object))|\
optim/(lbfgs|matrix_rules|schedulers)|ops/(${taeda_small_operators})[.]cpp$)|/generated/cpu/[a-z0-9_]*_sse4[.]cpp$")
set_source_files_properties(${taeda_small_sources} PROPERTIES COMPILE_OPTIONS
  "$<$<NOT:$<CONFIG:Debug>>:-Os>;$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>")
add_library(taeda_objects OBJECT ${taeda_sources} ${taeda_generated_sources})
target_include_directories(taeda_objects PRIVATE "${CMAKE_CURRENT_SOURCE_DIR}" "${TAEDA_GENERATED_DIR}")
target_link_libraries(taeda_objects PRIVATE taeda_flags ${taeda_private_dependencies} taeda_dep::fmt taeda_dep::json)

# Gives a library target its name, public include folders and dependencies.
function(taeda_library target)
  target_compile_features(${target} PUBLIC cxx_std_20)
  target_include_directories(${target} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}> $<BUILD_INTERFACE:${TAEDA_GENERATED_DIR}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:taeda_flags> ${taeda_private_dependencies})
  set_target_properties(${target} PROPERTIES OUTPUT_NAME taeda LINKER_LANGUAGE CXX)
endfunction()

if(TAEDA_SHARED)
  add_library(taeda SHARED $<TARGET_OBJECTS:taeda_objects>)
  taeda_library(taeda)
  set_target_properties(taeda PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR})
  if(NOT TAEDA_SANITIZE)
    target_link_options(taeda PRIVATE -Wl,--no-undefined)
  endif()
  target_link_options(taeda PRIVATE -Wl,--as-needed)
  if(TAEDA_PACKS_RELOCATIONS)
    set_target_properties(taeda PROPERTIES TAEDA_OTHER_LINKER ON)
    target_link_options(taeda PRIVATE -fuse-ld=bfd -Wl,-z,pack-relative-relocs)
  endif()
  # Calls between the library's own functions are direct, though others may call them too: no table to jump through.
  target_link_options(taeda PRIVATE -Wl,-Bsymbolic-functions)
  add_library(taeda::taeda ALIAS taeda)
endif()
if(TAEDA_STATIC)
  add_library(taeda_static STATIC $<TARGET_OBJECTS:taeda_objects>)
  taeda_library(taeda_static)
  add_library(taeda::taeda_static ALIAS taeda_static)
  if(NOT TAEDA_SHARED)
    add_library(taeda::taeda ALIAS taeda_static)
  endif()
endif()

# Optional: the include paths <torch/torch.h>, <ATen/ATen.h>, ... as small shims over <taeda/torch.h>.
add_library(taeda_compat INTERFACE)
target_include_directories(taeda_compat INTERFACE
  $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/compat> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/taeda/compat>)
set_target_properties(taeda_compat PROPERTIES EXPORT_NAME compat)
add_library(taeda::compat ALIAS taeda_compat)
