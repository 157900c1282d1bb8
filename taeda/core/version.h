// The library's version. CMake reads these three lines, so this is the only place where it is written.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define TAEDA_VERSION_MAJOR 0
#define TAEDA_VERSION_MINOR 1
#define TAEDA_VERSION_PATCH 0
