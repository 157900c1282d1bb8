// The formulas of taeda/ops/formula over the SIMD value types of simd.h: exp, log, tanh, sigmoid, sin, erf, pow, ...
// in taeda::cpu::HWY_NAMESPACE. Re-included for every target; for hand-written kernels and generated ones alike.
// SPDX-License-Identifier: Apache-2.0
#include "taeda/cpu/simd.h"

#include "taeda/ops/formula/scalar.h"

#if defined(TAEDA_CPU_MATH_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAEDA_CPU_MATH_H_
#undef TAEDA_CPU_MATH_H_
#else
#define TAEDA_CPU_MATH_H_
#endif

#ifndef TAEDA_FORMULA
#define TAEDA_FORMULA HWY_INLINE
#define TAEDA_FORMULA_MEMBER HWY_INLINE
#endif

HWY_BEFORE_NAMESPACE();
namespace taeda::cpu {
namespace HWY_NAMESPACE {

#include "taeda/ops/formula/wide.h"
#include "taeda/ops/formula/elementary.h"
#include "taeda/ops/formula/numeric.h"

}  // namespace HWY_NAMESPACE
}  // namespace taeda::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
