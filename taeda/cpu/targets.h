// Which instruction sets the SIMD translation units are compiled for. Include before any Highway header.
//
// Two ways to compile a source for every target:
//  * hand-written kernels: one .cpp that re-includes itself,
//        #include "taeda/cpu/targets.h"
//        #undef HWY_TARGET_INCLUDE
//        #define HWY_TARGET_INCLUDE "taeda/cpu/my_kernel.cpp"
//        #include <hwy/foreach_target.h>
//        #include "taeda/cpu/simd.h"
//        HWY_BEFORE_NAMESPACE();
//        namespace taeda::cpu { namespace HWY_NAMESPACE { ... } }
//        HWY_AFTER_NAMESPACE();
//        #if HWY_ONCE ... choose by simd_target() ... #endif
//  * generated kernels: one translation unit for each target, which includes this header and <hwy/detect_targets.h>, then
//    defines HWY_TARGET anew.
// SPDX-License-Identifier: Apache-2.0
#ifndef TAEDA_CPU_TARGETS_H_
#define TAEDA_CPU_TARGETS_H_

// SSE4 is the lowest target: Taeda needs an x86-64 processor with SSE4.2 (2008).
#define HWY_BASELINE_TARGETS HWY_SSE4
#define HWY_DISABLED_TARGETS (HWY_SSSE3 | HWY_AVX3_DL | HWY_EMU128 | HWY_SCALAR)

#endif  // TAEDA_CPU_TARGETS_H_
