// Run-time choice of the instruction set, without static constructors.
// SPDX-License-Identifier: Apache-2.0
#include "taeda/cpu/simd_target.h"

#include <cpuid.h>

#include <cstdlib>
#include <cstring>

namespace taeda::cpu {
namespace {

struct Registers {
  unsigned eax = 0, ebx = 0, ecx = 0, edx = 0;
};

Registers cpuid(unsigned leaf) {
  Registers r;
  __get_cpuid_count(leaf, 0, &r.eax, &r.ebx, &r.ecx, &r.edx);
  return r;
}

bool has_bits(unsigned word, std::initializer_list<int> bits) {
  for (int bit : bits) {
    if (((word >> bit) & 1) == 0) return false;
  }
  return true;
}

// The register state that the operating system saves (XCR0).
uint64_t saved_state() {
  unsigned low = 0, high = 0;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (static_cast<uint64_t>(high) << 32) | low;
}

}  // namespace

namespace detail {

std::atomic<int> simd_target_cache{-1};

int detect_simd_target() {
  int target = static_cast<int>(best_simd_target());
  if (const char* wish = std::getenv("TAEDA_SIMD")) {
    for (int i = 0; i < target; ++i) {
      if (std::strcmp(wish, simd_target_name(static_cast<SimdTarget>(i))) == 0) target = i;
    }
  }
  simd_target_cache.store(target, std::memory_order_relaxed);
  return target;
}

}  // namespace detail

SimdTarget best_simd_target() {
  const Registers one = cpuid(1), seven = cpuid(7), extended = cpuid(0x80000001);
  // FMA 12, OSXSAVE 27, AVX 28, F16C 29; LZCNT 5; BMI 3, AVX2 5, BMI2 8.
  const bool avx2_bits = has_bits(one.ecx, {12, 27, 28, 29}) && has_bits(extended.ecx, {5}) && has_bits(seven.ebx, {3, 5, 8});
  if (!avx2_bits || (saved_state() & 0x6) != 0x6) return SimdTarget::Sse4;
  // AVX-512 F 16, DQ 17, BW 30, VL 31; opmask and upper registers saved.
  if (!has_bits(seven.ebx, {16, 17, 30, 31}) || (saved_state() & 0xe6) != 0xe6) return SimdTarget::Avx2;
  return SimdTarget::Avx512;
}

const char* simd_target_name(SimdTarget target) {
  switch (target) {
    case SimdTarget::Sse4: return "sse4";
    case SimdTarget::Avx2: return "avx2";
    default: return "avx512";
  }
}

}  // namespace taeda::cpu
