// SPDX-License-Identifier: Apache-2.0
// Convolutions of float, for every SIMD target.
#include "taeda/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "taeda/cpu/conv_f32.cpp"
#include <hwy/foreach_target.h>

#include "taeda/cpu/conv_inl.h"
#include "taeda/cpu/simd_target.h"

HWY_BEFORE_NAMESPACE();
namespace taeda::cpu {
namespace HWY_NAMESPACE {
extern const ConvLoops kConvLoopsF32;
const ConvLoops kConvLoopsF32 = {&conv_forward<float>, &conv_transposed<float>, &conv_weight<float>, &conv_pack<float>};
}  // namespace HWY_NAMESPACE
}  // namespace taeda::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taeda::cpu {
const ConvLoops& conv_loops_f32() {
  switch (simd_target()) {
    case SimdTarget::Avx512: return N_AVX3::kConvLoopsF32;
    case SimdTarget::Avx2: return N_AVX2::kConvLoopsF32;
    default: return N_SSE4::kConvLoopsF32;
  }
}
}  // namespace taeda::cpu
#endif
