// The value types that pointwise formulas are written over, one per SIMD target, and their closed vocabulary.
//
// Vec<T> (T = float, double, int64_t) is a full register of the target; Lane<T> is a single lane with the same
// operators and the same bits. Both are VecOf<D> over a Highway tag D. A formula is a template over such a V and may use
//   arithmetic   + - * / unary -   (integers wrap; x / 0 of integers is 0), V(constant)
//   comparisons  < <= > >= == !=   giving MaskOf<V>, on which & | ^ ! any(m) and select(m, a, b) work
//   functions    fma min max minimum maximum fmin fmax abs sqrt floor ceil trunc round_even copysign
//                isnan isinf isfinite signbit
//   bits         to_bits, from_bits<V>, shift_left<n>, shift_right<n> (arithmetic), shift_right_logical<n>, & | ^ ~ on integers, exp2_of_int, int_value
//   wide         via_double<F>(x...): F::call in double on each half of a float vector, rounded once
//   lanes        map_lanes<f>(x...): a plain function lane by lane (float lanes go through double);
//                map_lanes_where<f>(m, x, otherwise): only if some lane of m is set
// fma is one rounding where the target has it (AVX2, AVX-512) and two on SSE4; nothing else is ever contracted.
// Re-included for every target (see targets.h); everything is in taeda::cpu::HWY_NAMESPACE.
// SPDX-License-Identifier: Apache-2.0
#include "taeda/cpu/targets.h"

#include <hwy/highway.h>

#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#if defined(TAEDA_CPU_SIMD_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAEDA_CPU_SIMD_H_
#undef TAEDA_CPU_SIMD_H_
#else
#define TAEDA_CPU_SIMD_H_
#endif

#define TAEDA_SIMD_INLINE static HWY_INLINE

HWY_BEFORE_NAMESPACE();
namespace taeda::cpu {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The result of a comparison: one truth value for each lane.
template <class D>
struct MaskD {
  using Raw = hn::MFromD<D>;
  Raw raw;
  MaskD() = default;
  explicit HWY_INLINE MaskD(Raw r) : raw(r) {}
  friend HWY_INLINE MaskD operator&(MaskD a, MaskD b) { return MaskD(hn::And(a.raw, b.raw)); }
  friend HWY_INLINE MaskD operator|(MaskD a, MaskD b) { return MaskD(hn::Or(a.raw, b.raw)); }
  friend HWY_INLINE MaskD operator^(MaskD a, MaskD b) { return MaskD(hn::Xor(a.raw, b.raw)); }
  friend HWY_INLINE MaskD operator!(MaskD a) { return MaskD(hn::Not(a.raw)); }
};

template <class D>
struct VecOf;

template <class T>
using Vec = VecOf<hn::ScalableTag<T>>;
template <class T>
using Lane = VecOf<hn::CappedTag<T, 1>>;
template <class V>
using MaskOf = typename V::Mask;
/// The integer vector with lanes of the same size and number.
template <class V>
using IntOf = VecOf<hn::RebindToSigned<typename V::Tag>>;

template <class V>
constexpr bool kIsFloating = std::is_floating_point_v<typename V::Scalar>;
template <class V>
constexpr bool kIsFloat = std::is_same_v<typename V::Scalar, float>;

namespace detail {

// Integer operators that the hardware lacks; wrapping, and total.
TAEDA_SIMD_INLINE int64_t wrapping_mul(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b)); }
TAEDA_SIMD_INLINE int64_t wrapping_neg(int64_t a) { return static_cast<int64_t>(uint64_t{0} - static_cast<uint64_t>(a)); }
TAEDA_SIMD_INLINE int64_t total_div(int64_t a, int64_t b) {
  if (b == 0) return 0;
  return b == -1 ? wrapping_neg(a) : a / b;
}

template <class D, class F>
HWY_INLINE VecOf<D> lanes2(VecOf<D> a, VecOf<D> b, F f) {
  constexpr size_t kN = hn::MaxLanes(D());
  using T = hn::TFromD<D>;
  HWY_ALIGN T x[kN];
  HWY_ALIGN T y[kN];
  hn::Store(a.raw, D(), x);
  hn::Store(b.raw, D(), y);
  for (size_t i = 0; i < kN; ++i) x[i] = f(x[i], y[i]);
  return VecOf<D>(hn::Load(D(), x));
}

}  // namespace detail

/// A vector of lanes; see the head of this file.
template <class D>
struct VecOf {
  using Tag = D;
  using Scalar = hn::TFromD<D>;
  using Raw = hn::VFromD<D>;
  using Mask = MaskD<D>;
  static constexpr size_t kLanes = hn::MaxLanes(D());

  Raw raw;

  VecOf() = default;
  explicit HWY_INLINE VecOf(Raw r) : raw(r) {}
  template <class C, std::enable_if_t<std::is_arithmetic_v<C>, int> = 0>
  HWY_INLINE VecOf(C constant) : raw(hn::Set(D(), static_cast<Scalar>(constant))) {}

  static HWY_INLINE VecOf load(const Scalar* p) { return VecOf(hn::LoadU(D(), p)); }
  HWY_INLINE void store(Scalar* p) const { hn::StoreU(raw, D(), p); }

  friend HWY_INLINE VecOf operator+(VecOf a, VecOf b) { return VecOf(hn::Add(a.raw, b.raw)); }
  friend HWY_INLINE VecOf operator-(VecOf a, VecOf b) { return VecOf(hn::Sub(a.raw, b.raw)); }
  friend HWY_INLINE VecOf operator*(VecOf a, VecOf b) {
    if constexpr (std::is_same_v<Scalar, int64_t>) {
      const hn::RebindToUnsigned<D> du;
      if constexpr (kLanes == 1) {
        return VecOf(detail::wrapping_mul(hn::GetLane(a.raw), hn::GetLane(b.raw)));
      } else {
        return VecOf(hn::BitCast(D(), hn::Mul(hn::BitCast(du, a.raw), hn::BitCast(du, b.raw))));
      }
    } else {
      return VecOf(hn::Mul(a.raw, b.raw));
    }
  }
  friend HWY_INLINE VecOf operator/(VecOf a, VecOf b) {
    if constexpr (std::is_floating_point_v<Scalar>) {
      return VecOf(hn::Div(a.raw, b.raw));
    } else {
      return detail::lanes2(a, b, detail::total_div);
    }
  }
  friend HWY_INLINE VecOf operator-(VecOf a) { return VecOf(hn::Neg(a.raw)); }

  friend HWY_INLINE Mask operator<(VecOf a, VecOf b) { return Mask(hn::Lt(a.raw, b.raw)); }
  friend HWY_INLINE Mask operator>(VecOf a, VecOf b) { return Mask(hn::Gt(a.raw, b.raw)); }
  friend HWY_INLINE Mask operator==(VecOf a, VecOf b) { return Mask(hn::Eq(a.raw, b.raw)); }
  friend HWY_INLINE Mask operator!=(VecOf a, VecOf b) { return !(a == b); }  // true for nan
  friend HWY_INLINE Mask operator<=(VecOf a, VecOf b) {
    if constexpr (std::is_floating_point_v<Scalar>) return Mask(hn::Le(a.raw, b.raw));
    else return !(a > b);
  }
  friend HWY_INLINE Mask operator>=(VecOf a, VecOf b) {
    if constexpr (std::is_floating_point_v<Scalar>) return Mask(hn::Ge(a.raw, b.raw));
    else return !(a < b);
  }

  // Bitwise operators, for integer lanes.
  friend HWY_INLINE VecOf operator&(VecOf a, VecOf b) { return VecOf(hn::And(a.raw, b.raw)); }
  friend HWY_INLINE VecOf operator|(VecOf a, VecOf b) { return VecOf(hn::Or(a.raw, b.raw)); }
  friend HWY_INLINE VecOf operator^(VecOf a, VecOf b) { return VecOf(hn::Xor(a.raw, b.raw)); }
  friend HWY_INLINE VecOf operator~(VecOf a) { return VecOf(hn::Not(a.raw)); }
};

/// a where the mask is set, b elsewhere.
template <class D>
HWY_INLINE VecOf<D> select(MaskD<D> m, VecOf<D> a, std::type_identity_t<VecOf<D>> b) {
  return VecOf<D>(hn::IfThenElse(m.raw, a.raw, b.raw));
}
template <class D, class C, std::enable_if_t<std::is_arithmetic_v<C>, int> = 0>
HWY_INLINE VecOf<D> select(MaskD<D> m, C a, VecOf<D> b) {
  return VecOf<D>(hn::IfThenElse(m.raw, VecOf<D>(a).raw, b.raw));
}
/// Whether any lane is set.
template <class D>
HWY_INLINE bool any(MaskD<D> m) {
  return !hn::AllFalse(D(), m.raw);
}

/// a * b + c, rounded once where the target has the instruction.
template <class D>
HWY_INLINE VecOf<D> fma(VecOf<D> a, std::type_identity_t<VecOf<D>> b, std::type_identity_t<VecOf<D>> c) {
  return VecOf<D>(hn::MulAdd(a.raw, b.raw, c.raw));
}

/// a < b ? a : b and a > b ? a : b; both are b where unordered.
template <class D>
HWY_INLINE VecOf<D> min(VecOf<D> a, std::type_identity_t<VecOf<D>> b) {
  return VecOf<D>(hn::Min(a.raw, b.raw));
}
template <class D>
HWY_INLINE VecOf<D> max(VecOf<D> a, std::type_identity_t<VecOf<D>> b) {
  return VecOf<D>(hn::Max(a.raw, b.raw));
}

template <class D>
HWY_INLINE MaskD<D> isnan(VecOf<D> a) {
  if constexpr (kIsFloating<VecOf<D>>) return a != a;
  else return a < a;
}
/// The smaller or larger value; nan if either is nan.
template <class D>
HWY_INLINE VecOf<D> minimum(VecOf<D> a, std::type_identity_t<VecOf<D>> b) {
  if constexpr (kIsFloating<VecOf<D>>) return select(isnan(a), a, min(a, b));
  else return min(a, b);
}
template <class D>
HWY_INLINE VecOf<D> maximum(VecOf<D> a, std::type_identity_t<VecOf<D>> b) {
  if constexpr (kIsFloating<VecOf<D>>) return select(isnan(a), a, max(a, b));
  else return max(a, b);
}
/// The smaller or larger value; the other one if one is nan.
template <class D>
HWY_INLINE VecOf<D> fmin(VecOf<D> a, std::type_identity_t<VecOf<D>> b) {
  if constexpr (kIsFloating<VecOf<D>>) return select(isnan(b), a, min(a, b));
  else return min(a, b);
}
template <class D>
HWY_INLINE VecOf<D> fmax(VecOf<D> a, std::type_identity_t<VecOf<D>> b) {
  if constexpr (kIsFloating<VecOf<D>>) return select(isnan(b), a, max(a, b));
  else return max(a, b);
}

template <class D>
HWY_INLINE VecOf<D> abs(VecOf<D> a) {
  if constexpr (kIsFloating<VecOf<D>>) return VecOf<D>(hn::Abs(a.raw));
  else return select(a < VecOf<D>(0), -a, a);
}
template <class D>
HWY_INLINE VecOf<D> sqrt(VecOf<D> a) {
  return VecOf<D>(hn::Sqrt(a.raw));
}
template <class D>
HWY_INLINE VecOf<D> floor(VecOf<D> a) {
  if constexpr (kIsFloating<VecOf<D>>) return VecOf<D>(hn::Floor(a.raw));
  else return a;
}
template <class D>
HWY_INLINE VecOf<D> ceil(VecOf<D> a) {
  if constexpr (kIsFloating<VecOf<D>>) return VecOf<D>(hn::Ceil(a.raw));
  else return a;
}
template <class D>
HWY_INLINE VecOf<D> trunc(VecOf<D> a) {
  if constexpr (kIsFloating<VecOf<D>>) return VecOf<D>(hn::Trunc(a.raw));
  else return a;
}
/// To the nearest integer, ties to even.
template <class D>
HWY_INLINE VecOf<D> round_even(VecOf<D> a) {
  if constexpr (kIsFloating<VecOf<D>>) return VecOf<D>(hn::Round(a.raw));
  else return a;
}
/// The magnitude of the first argument with the sign of the second.
template <class D>
HWY_INLINE VecOf<D> copysign(VecOf<D> magnitude, std::type_identity_t<VecOf<D>> sign) {
  return VecOf<D>(hn::CopySign(magnitude.raw, sign.raw));
}
template <class D>
HWY_INLINE MaskD<D> isinf(VecOf<D> a) {
  if constexpr (kIsFloating<VecOf<D>>) return abs(a) == VecOf<D>(std::numeric_limits<float>::infinity());
  else return a < a;
}
template <class D>
HWY_INLINE MaskD<D> isfinite(VecOf<D> a) {
  if constexpr (kIsFloating<VecOf<D>>) return abs(a) < VecOf<D>(std::numeric_limits<float>::infinity());
  else return a == a;
}
/// Whether the sign bit is set (also of -0 and of nan).
template <class D>
HWY_INLINE MaskD<D> signbit(VecOf<D> a) {
  if constexpr (kIsFloating<VecOf<D>>) {
    const hn::RebindToSigned<D> di;
    return MaskD<D>(hn::MaskFromVec(hn::BitCast(D(), hn::BroadcastSignBit(hn::BitCast(di, a.raw)))));
  } else {
    return a < VecOf<D>(0);
  }
}

/// The same bits as integers, and back.
template <class D>
HWY_INLINE IntOf<VecOf<D>> to_bits(VecOf<D> a) {
  return IntOf<VecOf<D>>(hn::BitCast(hn::RebindToSigned<D>(), a.raw));
}
template <class V>
HWY_INLINE V from_bits(IntOf<V> a) {
  return V(hn::BitCast(typename V::Tag(), a.raw));
}
template <int kBits, class D>
HWY_INLINE VecOf<D> shift_left(VecOf<D> a) {
  return VecOf<D>(hn::ShiftLeft<kBits>(a.raw));
}
/// Arithmetic for signed lanes.
template <int kBits, class D>
HWY_INLINE VecOf<D> shift_right(VecOf<D> a) {
  return VecOf<D>(hn::ShiftRight<kBits>(a.raw));
}
/// With zeros shifted in.
template <int kBits, class D>
HWY_INLINE VecOf<D> shift_right_logical(VecOf<D> a) {
  const hn::RebindToUnsigned<D> du;
  return VecOf<D>(hn::BitCast(D(), hn::ShiftRight<kBits>(hn::BitCast(du, a.raw))));
}
/// Turns a mask of floating lanes into one of the integer lanes of the same size, and back.
template <class D>
HWY_INLINE MaskOf<IntOf<VecOf<D>>> int_mask(MaskD<D> m) {
  return MaskOf<IntOf<VecOf<D>>>(hn::RebindMask(hn::RebindToSigned<D>(), m.raw));
}
template <class V>
HWY_INLINE MaskOf<V> float_mask(MaskOf<IntOf<V>> m) {
  return MaskOf<V>(hn::RebindMask(typename V::Tag(), m.raw));
}

namespace detail {
template <class T>
struct FloatFormat;
template <>
struct FloatFormat<float> {
  static constexpr int kMantissa = 23, kBias = 127;
  static constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23
};
template <>
struct FloatFormat<double> {
  static constexpr int kMantissa = 52, kBias = 1023;
  static constexpr double kMagic = 6755399441055744.0;  // 1.5 * 2^52
};
}  // namespace detail

/// 2^n for integral n between the smallest and the largest normal exponent.
template <class D>
HWY_INLINE VecOf<D> exp2_of_int(VecOf<D> n) {
  using Format = detail::FloatFormat<hn::TFromD<D>>;
  const VecOf<D> biased = n + VecOf<D>(Format::kMagic + Format::kBias);
  return from_bits<VecOf<D>>(shift_left<Format::kMantissa>(to_bits(biased)));
}
/// The floating value of small integer lanes (|i| < 2^22).
template <class V>
HWY_INLINE V int_value(IntOf<V> i) {
  const V magic(detail::FloatFormat<typename V::Scalar>::kMagic);
  return from_bits<V>(i + to_bits(magic)) - magic;
}

/// a where the mask is set, 0 elsewhere: the product of a gradient and a local derivative with dead branches kept at zero,
/// g == 0 ? 0 : g * d (a nan or infinite derivative does not leak where no gradient arrives).
template <class V>
HWY_INLINE V masked_product(V gradient, V derivative) {
  return select(gradient == V(0), V(0), gradient * derivative);
}

namespace detail {

template <class D>
using WideTag = hn::Rebind<double, std::conditional_t<(hn::MaxLanes(D()) > 1), hn::Half<D>, D>>;

template <bool kUpper, class D>
HWY_INLINE VecOf<WideTag<D>> widen(VecOf<D> x) {
  const WideTag<D> dw;
  if constexpr (VecOf<D>::kLanes == 1) {
    return VecOf<WideTag<D>>(hn::PromoteTo(dw, x.raw));
  } else if constexpr (kUpper) {
    return VecOf<WideTag<D>>(hn::PromoteTo(dw, hn::UpperHalf(hn::Half<D>(), x.raw)));
  } else {
    return VecOf<WideTag<D>>(hn::PromoteTo(dw, hn::LowerHalf(hn::Half<D>(), x.raw)));
  }
}

}  // namespace detail

/// F::call(x...) evaluated in double on both halves of float vectors, and rounded once to float.
template <class F, class D, class... Rest>
HWY_INLINE VecOf<D> via_double(VecOf<D> first, Rest... rest) {
  static_assert(std::is_same_v<hn::TFromD<D>, float>);
  if constexpr (VecOf<D>::kLanes == 1) {
    return VecOf<D>(hn::DemoteTo(D(), F::call(detail::widen<false>(first), detail::widen<false>(rest)...).raw));
  } else {
    const hn::Half<D> half;
    const auto low = hn::DemoteTo(half, F::call(detail::widen<false>(first), detail::widen<false>(rest)...).raw);
    const auto high = hn::DemoteTo(half, F::call(detail::widen<true>(first), detail::widen<true>(rest)...).raw);
    return VecOf<D>(hn::Combine(D(), high, low));
  }
}

namespace detail {
template <auto kFunction, class D, class... Rest>
HWY_NOINLINE void map_lanes_into(hn::TFromD<D>* out, const hn::TFromD<D>* first, const Rest*... rest) {
  for (size_t i = 0; i < hn::MaxLanes(D()); ++i) out[i] = static_cast<hn::TFromD<D>>(kFunction(first[i], rest[i]...));
}
template <class D>
struct Spill {
  HWY_ALIGN hn::TFromD<D> lanes[hn::MaxLanes(D())];
  explicit HWY_INLINE Spill(VecOf<D> v) { hn::Store(v.raw, D(), lanes); }
};
}  // namespace detail

/// A plain function of double (floating lanes) or int64_t (integer lanes), lane by lane.
template <auto kFunction, class D, class... Rest>
HWY_INLINE VecOf<D> map_lanes(VecOf<D> first, Rest... rest) {
  HWY_ALIGN hn::TFromD<D> out[hn::MaxLanes(D())];
  detail::map_lanes_into<kFunction, D>(out, detail::Spill<D>(first).lanes, detail::Spill<D>(rest).lanes...);
  return VecOf<D>(hn::Load(D(), out));
}
/// The same where the mask is set, `otherwise` elsewhere; costs nothing when no lane is set.
template <auto kFunction, class D>
HWY_INLINE VecOf<D> map_lanes_where(MaskD<D> m, VecOf<D> x, VecOf<D> otherwise) {
  if (HWY_LIKELY(!any(m))) return otherwise;
  return select(m, map_lanes<kFunction>(x), otherwise);
}

}  // namespace HWY_NAMESPACE
}  // namespace taeda::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
