// SPDX-License-Identifier: Apache-2.0
// The one export macro: symbols are hidden unless they are marked with it.
#pragma once

#if defined(_WIN32)
#define TAEDA_API
#else
#define TAEDA_API __attribute__((visibility("default")))
#endif

#define TAEDA_LIKELY(x) __builtin_expect(static_cast<bool>(x), 1)
#define TAEDA_UNLIKELY(x) __builtin_expect(static_cast<bool>(x), 0)
#define TAEDA_NOINLINE __attribute__((noinline))
#define TAEDA_COLD __attribute__((noinline, cold))
#define TAEDA_ALWAYS_INLINE inline __attribute__((always_inline))
