// SPDX-License-Identifier: Apache-2.0
// Max pooling, a vector of windows at a time.
#include "taeda/cpu/max_pool_row.h"

#include <algorithm>
#include <type_traits>

#include "taeda/cpu/simd_target.h"
#include "taeda/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "taeda/cpu/max_pool_row.cpp"
#include <hwy/foreach_target.h>

#include "taeda/cpu/simd.h"

HWY_BEFORE_NAMESPACE();
namespace taeda::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Every kStride-th element from `x` on; reads kStride vectors.
template <int kStride, class D>
HWY_INLINE hn::Vec<D> strided(D d, const hn::TFromD<D>* x) {
  if constexpr (kStride == 1) {
    return hn::LoadU(d, x);
  } else {
    hn::Vec<D> even, odd;
    hn::LoadInterleaved2(d, x, even, odd);
    return even;
  }
}
/// Integer lanes plus `base` as int64.
template <class DI>
HWY_INLINE void store_index(DI di, hn::Vec<DI> v, int64_t base, int64_t* to) {
  if constexpr (sizeof(hn::TFromD<DI>) == 8) {
    hn::StoreU(hn::Add(v, hn::Set(di, base)), di, to);
  } else {
    const hn::RepartitionToWide<DI> wide;
    const hn::Half<DI> half;
    const auto shift = hn::Set(wide, base);
    hn::StoreU(hn::Add(hn::PromoteTo(wide, hn::LowerHalf(half, v)), shift), wide, to);
    hn::StoreU(hn::Add(hn::PromoteTo(wide, hn::UpperHalf(half, v)), shift), wide, to + hn::Lanes(wide));
  }
}

template <class T, int kStride>
int64_t windows(const MaxPoolRow<T>& r) {
  using V = Vec<T>;
  const typename V::Tag d;
  const hn::RebindToSigned<typename V::Tag> di;
  using Int = hn::TFromD<decltype(di)>;
  constexpr int64_t kL = static_cast<int64_t>(V::kLanes);
  const auto steps = kStride == 1 ? hn::Iota(di, 0) : hn::ShiftLeft<1>(hn::Iota(di, 0));
  const int64_t furthest = *std::max_element(r.taps, r.taps + r.tap_count) + kStride * kL;
  int64_t done = r.begin;
  while (done < r.end) {
    int64_t i = done;
    if (i + kL > r.end) i = r.end - kL;  // again some that are there already
    if (i < r.begin || r.line + kStride * i + furthest > r.room) break;
    const T* from = r.plane + r.line + kStride * i;
    auto best = strided<kStride>(d, from + r.taps[0]);
    auto at = hn::Set(di, static_cast<Int>(r.taps[0]));
    for (int64_t k = 1; k < r.tap_count; ++k) {
      const auto value = strided<kStride>(d, from + r.taps[k]);
      const auto take = hn::Or(hn::Gt(value, best), hn::IsNaN(value));
      best = hn::IfThenElse(take, value, best);
      at = hn::IfThenElse(hn::RebindMask(di, take), hn::Set(di, static_cast<Int>(r.taps[k])), at);
    }
    hn::StoreU(best, d, r.out + i);
    if (r.index) store_index(di, hn::Add(at, steps), r.line + kStride * i, r.index + i);
    done = i + kL;
  }
  return done;
}

}  // namespace

int64_t max_pool_row_f32(const MaxPoolRow<float>& r);
int64_t max_pool_row_f64(const MaxPoolRow<double>& r);
int64_t max_pool_row_f32(const MaxPoolRow<float>& r) { return r.stride == 1 ? windows<float, 1>(r) : windows<float, 2>(r); }
int64_t max_pool_row_f64(const MaxPoolRow<double>& r) { return r.stride == 1 ? windows<double, 1>(r) : windows<double, 2>(r); }

}  // namespace HWY_NAMESPACE
}  // namespace taeda::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taeda::cpu {

int64_t max_pool_row(const MaxPoolRow<float>& row) {
  switch (simd_target()) {
    case SimdTarget::Avx512: return N_AVX3::max_pool_row_f32(row);
    case SimdTarget::Avx2: return N_AVX2::max_pool_row_f32(row);
    default: return N_SSE4::max_pool_row_f32(row);
  }
}
int64_t max_pool_row(const MaxPoolRow<double>& row) {
  switch (simd_target()) {
    case SimdTarget::Avx512: return N_AVX3::max_pool_row_f64(row);
    case SimdTarget::Avx2: return N_AVX2::max_pool_row_f64(row);
    default: return N_SSE4::max_pool_row_f64(row);
  }
}

}  // namespace taeda::cpu
#endif
