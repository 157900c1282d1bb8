// Which instruction set the SIMD kernels run on.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>

#include "taeda/core/export.h"

namespace taeda::cpu {

/// The instruction sets that kernels exist for, from low to high.
enum class SimdTarget : uint8_t { Sse4 = 0, Avx2 = 1, Avx512 = 2 };
constexpr int kSimdTargets = 3;

namespace detail {
TAEDA_API extern std::atomic<int> simd_target_cache;  // -1 until first asked
TAEDA_API int detect_simd_target();
}  // namespace detail

/// The instruction set in use: the best that the processor has, lowered by the environment variable
/// TAEDA_SIMD = sse4, avx2 or avx512 (read once, at the first call).
inline SimdTarget simd_target() {
  int target = detail::simd_target_cache.load(std::memory_order_relaxed);
  if (target < 0) [[unlikely]] target = detail::detect_simd_target();
  return static_cast<SimdTarget>(target);
}

/// The best instruction set that the processor has, whatever TAEDA_SIMD says.
TAEDA_API SimdTarget best_simd_target();

/// "sse4", "avx2" or "avx512".
TAEDA_API const char* simd_target_name(SimdTarget target);

}  // namespace taeda::cpu
