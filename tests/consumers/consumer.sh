#!/usr/bin/env bash
# Builds and runs small projects that use the library, each in one of the ways a user may.
#   consumer.sh install      BUILD WORK           install BUILD to a prefix and move the prefix elsewhere
#   consumer.sh package      BUILD WORK           find_package(Taeda) in the moved prefix, shared library
#   consumer.sh static       BUILD WORK           the same, static library
#   consumer.sh pkgconfig    BUILD WORK           pkg-config in the moved prefix, no CMake at all
#   consumer.sh subdirectory BUILD WORK SOURCE    add_subdirectory(SOURCE)
# The last compiles the consumer against the targets that add_subdirectory makes, then links it with the library that BUILD
# already made from the same sources: compiling the library a second time would tell nothing more and cost minutes. With
# TAEDA_FULL_CONSUMER=1 it does compile it.
# SPDX-License-Identifier: Apache-2.0
set -euo pipefail
kind=$1 build=$2 work=$3 source=${4:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cxx=${CXX:-c++}
prefix=$work/moved
tree=$work/$kind

# The consumers build as a user would: nothing of this build's environment reaches them.
unset CXXFLAGS LDFLAGS CPPFLAGS CMAKE_CXX_COMPILER_LAUNCHER

configure() { cmake -S "$here/$kind" -B "$tree" -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_COMPILER="$cxx" "$@"; }
expect_output() { "$@" | tee /dev/stderr | grep -q '^consumer: '; }

rm -rf "$tree"
mkdir -p "$work"
case $kind in
  install)
    rm -rf "$work/moved" "$work/installed"
    cmake --install "$build" --prefix "$work/installed" >/dev/null
    mv "$work/installed" "$prefix"
    if grep -rlE "$work/installed|$build" "$prefix" --include='*.cmake' --include='*.pc' --include='*.h'; then
      echo "the files above hold absolute paths of the build" >&2
      exit 1
    fi
    if find "$prefix" -name 'libtaeda.so*' -exec strings -a {} + | grep -F "$build"; then
      echo "the library holds the paths above" >&2
      exit 1
    fi
    ;;
  package | static)
    configure -DCMAKE_PREFIX_PATH="$prefix"
    cmake --build "$tree"
    expect_output "$tree/consumer"
    if [[ -x $tree/torch_paths ]]; then expect_output "$tree/torch_paths"; fi
    ;;
  pkgconfig)
    mkdir -p "$tree"
    PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name taeda.pc)")
    export PKG_CONFIG_PATH
    read -ra flags <<<"$(pkg-config --cflags --libs taeda)"
    "$cxx" -std=c++20 "$here/consumer.cpp" -o "$tree/consumer" "${flags[@]}"
    LD_LIBRARY_PATH=$(pkg-config --variable=libdir taeda) expect_output "$tree/consumer"
    ;;
  subdirectory)
    configure -DTAEDA_SOURCE_DIR="$source"
    if [[ ${TAEDA_FULL_CONSUMER:-} == 1 ]]; then
      cmake --build "$tree" --target consumer --parallel
      expect_output "$tree/consumer"
    else
      cmake --build "$tree" --target consumer_object
      "$cxx" "$(find "$tree" -name 'consumer.cpp.o')" -o "$tree/consumer_linked" "$build/libtaeda.so" "-Wl,-rpath,$build"
      expect_output "$tree/consumer_linked"
    fi
    ;;
  *) echo "unknown kind $kind" >&2; exit 2 ;;
esac
