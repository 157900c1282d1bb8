// SPDX-License-Identifier: Apache-2.0
// Convolutions of double, for every SIMD target.
#include "taeda/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "taeda/cpu/conv_f64.cpp"
#include <hwy/foreach_target.h>

#include "taeda/cpu/conv_inl.h"
#include "taeda/cpu/simd_target.h"

HWY_BEFORE_NAMESPACE();
namespace taeda::cpu {
namespace HWY_NAMESPACE {
extern const ConvLoops kConvLoopsF64;
const ConvLoops kConvLoopsF64 = {&conv_forward<double>, &conv_transposed<double>, &conv_weight<double>, &conv_pack<double>};
}  // namespace HWY_NAMESPACE
}  // namespace taeda::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taeda::cpu {
const ConvLoops& conv_loops_f64() {
  switch (simd_target()) {
    case SimdTarget::Avx512: return N_AVX3::kConvLoopsF64;
    case SimdTarget::Avx2: return N_AVX2::kConvLoopsF64;
    default: return N_SSE4::kConvLoopsF64;
  }
}
}  // namespace taeda::cpu
#endif
