# Install rules: headers, libraries, program, CMake package and pkg-config file, all relocatable.
# SPDX-License-Identifier: Apache-2.0
include(CMakePackageConfigHelpers)

# Headers. The kernels and the program have none that a user includes.
install(DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/taeda" "${TAEDA_GENERATED_DIR}/taeda"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" FILES_MATCHING PATTERN "*.h" PATTERN "tensor_methods.inc"
  PATTERN "taeda/cpu" EXCLUDE PATTERN "taeda/cli" EXCLUDE PATTERN "taeda/jit" EXCLUDE)
install(DIRECTORY "${CMAKE_CURRENT_SOURCE_DIR}/compat/" DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/taeda/compat")

# Libraries and program. Each library has an export set of its own, so that the static one, which needs its dependencies
# found, is loaded only by those who ask for it.
set(taeda_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/Taeda")
install(TARGETS taeda_compat EXPORT TaedaCompatTargets)
install(EXPORT TaedaCompatTargets NAMESPACE taeda:: DESTINATION "${taeda_package_dir}")
if(TAEDA_SHARED)
  install(TARGETS taeda EXPORT TaedaTargets)
  install(EXPORT TaedaTargets NAMESPACE taeda:: DESTINATION "${taeda_package_dir}")
endif()
if(TAEDA_STATIC)
  install(TARGETS taeda_static EXPORT TaedaStaticTargets)
  install(EXPORT TaedaStaticTargets NAMESPACE taeda:: DESTINATION "${taeda_package_dir}")
endif()
if(TARGET taeda_jit)
  install(TARGETS taeda_jit LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}")
endif()
if(TARGET taeda_cli)
  set_target_properties(taeda_cli PROPERTIES INSTALL_RPATH "$ORIGIN/../${CMAKE_INSTALL_LIBDIR}")
  install(TARGETS taeda_cli)
endif()

configure_package_config_file("${CMAKE_CURRENT_SOURCE_DIR}/cmake/TaedaConfig.cmake.in"
  "${CMAKE_CURRENT_BINARY_DIR}/package/TaedaConfig.cmake" INSTALL_DESTINATION "${taeda_package_dir}"
  NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file("${CMAKE_CURRENT_BINARY_DIR}/package/TaedaConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/package/TaedaConfig.cmake"
  "${CMAKE_CURRENT_BINARY_DIR}/package/TaedaConfigVersion.cmake"
  "${CMAKE_CURRENT_SOURCE_DIR}/cmake/TaedaDependencies.cmake" DESTINATION "${taeda_package_dir}")

# pkg-config: the prefix is found from the file's own place.
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_LIBDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}" OUTPUT_VARIABLE taeda_pc_libdir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_FULL_INCLUDEDIR BASE_DIRECTORY "${CMAKE_INSTALL_PREFIX}"
  OUTPUT_VARIABLE taeda_pc_includedir)
cmake_path(RELATIVE_PATH CMAKE_INSTALL_PREFIX BASE_DIRECTORY "${CMAKE_INSTALL_FULL_LIBDIR}/pkgconfig"
  OUTPUT_VARIABLE taeda_pc_prefix)
configure_file("${CMAKE_CURRENT_SOURCE_DIR}/cmake/taeda.pc.in" "${CMAKE_CURRENT_BINARY_DIR}/package/taeda.pc" @ONLY)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/package/taeda.pc" DESTINATION "${CMAKE_INSTALL_LIBDIR}/pkgconfig")
install(FILES "${CMAKE_CURRENT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
