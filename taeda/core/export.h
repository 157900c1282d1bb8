// The export macro: what carries TAEDA_API is visible outside libtaeda, everything else is hidden.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#if defined(__GNUC__) || defined(__clang__)
#define TAEDA_API __attribute__((visibility("default")))
#else
#error "[taeda] a compiler with GCC-style attributes is required; use g++ >= 12 or clang >= 14"
#endif
