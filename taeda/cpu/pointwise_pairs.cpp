// SPDX-License-Identifier: Apache-2.0
#include "taeda/cpu/pointwise_pairs.h"

#include "taeda/cpu/simd_target.h"
#include "taeda/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "taeda/cpu/pointwise_pairs.cpp"
#include <hwy/foreach_target.h>

#include "taeda/cpu/math.h"
#include "taeda/cpu/pointwise_loop.h"

HWY_BEFORE_NAMESPACE();
namespace taeda::cpu {
namespace HWY_NAMESPACE {
namespace {

#include "taeda/ops/pointwise/arithmetic.h"

/// An operator of two inputs, scaled by an attribute or not.
template <class Op>
struct Scaled {
  static constexpr int attrs = 1;
  template <class V>
  static HWY_INLINE V call(V x, V y, const V* a) { return Op::template apply<V>(x, y, a[0]); }
};
template <class Op>
struct Plain {
  static constexpr int attrs = 0;
  template <class V>
  static HWY_INLINE V call(V x, V y, const V*) { return Op::template apply<V>(x, y); }
};

template <class First, class Second, bool kLeft>
struct Pair {
  static constexpr int inputs = 3, attrs = First::attrs + Second::attrs;
  static constexpr unsigned mask_inputs = 0;
  template <class V>
  static HWY_INLINE V call(const V* x, const V* a) {
    const V between = First::call(x[0], x[1], a);
    return kLeft ? Second::call(between, x[2], a + First::attrs) : Second::call(x[2], between, a + First::attrs);
  }
};

template <class First, bool kLeft>
PointwiseLoop after(int second) {
  switch (second) {
    case 0: return &pointwise_loop<float, Pair<First, Scaled<Add>, kLeft>>;
    case 1: return &pointwise_loop<float, Pair<First, Scaled<Sub>, kLeft>>;
    case 3: return &pointwise_loop<float, Pair<First, Plain<Mul>, kLeft>>;
    default: return nullptr;
  }
}

template <bool kLeft>
PointwiseLoop loop_of(int first, int second) {
  switch (first) {
    case 0: return after<Scaled<Add>, kLeft>(second);
    case 1: return after<Scaled<Sub>, kLeft>(second);
    case 2: return after<Scaled<Rsub>, kLeft>(second);
    case 3: return after<Plain<Mul>, kLeft>(second);
    default: return nullptr;
  }
}

}  // namespace

PointwiseLoop pair_loop(int first, int second, bool left) { return left ? loop_of<true>(first, second) : loop_of<false>(first, second); }

}  // namespace HWY_NAMESPACE
}  // namespace taeda::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taeda::cpu {

namespace {
/// The operators' places in the tables above, or -1.
int place(PointwiseKernelId id) {
  static const int ids[] = {find_pointwise_kernel("Add"), find_pointwise_kernel("Sub"), find_pointwise_kernel("Rsub"), find_pointwise_kernel("Mul")};
  for (int k = 0; k < 4; ++k) {
    if (ids[k] == static_cast<int>(id)) return k;
  }
  return -1;
}
}  // namespace

PointwiseLoop pointwise_pair(PointwiseKernelId first, PointwiseKernelId second, bool left) {
  const int a = place(first), b = place(second);
  switch (simd_target()) {
    case SimdTarget::Avx512: return N_AVX3::pair_loop(a, b, left);
    case SimdTarget::Avx2: return N_AVX2::pair_loop(a, b, left);
    default: return N_SSE4::pair_loop(a, b, left);
  }
}

}  // namespace taeda::cpu
#endif
