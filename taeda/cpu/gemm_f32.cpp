// SPDX-License-Identifier: Apache-2.0
// Products of float matrices on one thread, for every SIMD target.
#include "taeda/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "taeda/cpu/gemm_f32.cpp"
#include <hwy/foreach_target.h>

#include "taeda/cpu/gemm_inl.h"
#include "taeda/cpu/simd_target.h"

HWY_BEFORE_NAMESPACE();
namespace taeda::cpu {
namespace HWY_NAMESPACE {
void gemm_f32(const Gemm<float>& g);
void gemm_f32(const Gemm<float>& g) { gemm_one(g); }
}  // namespace HWY_NAMESPACE
}  // namespace taeda::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taeda::cpu {
void gemm_serial(const Gemm<float>& g) {
  switch (simd_target()) {
    case SimdTarget::Avx512: return N_AVX3::gemm_f32(g);
    case SimdTarget::Avx2: return N_AVX2::gemm_f32(g);
    default: return N_SSE4::gemm_f32(g);
  }
}
}  // namespace taeda::cpu
#endif
