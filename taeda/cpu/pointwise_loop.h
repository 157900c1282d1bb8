// The one loop that every pointwise kernel is an instance of (convention: pointwise_abi.h). Re-included for every target.
//
// A kernel is a type F with
//   static constexpr int inputs, attrs;  static constexpr unsigned mask_inputs;
//   template <class V> static auto call(const V* x, const V* a);   // x: inputs, a: attributes; returns V or MaskOf<V>
// A broadcast operand (stride 0) is spread once into a register-sized buffer that the loop reads again and again with a
// pointer increment of 0. The last incomplete vector is copied to a padded buffer and goes through the loop body once
// more, so that the formula exists once in the code and body and tail give equal bits.
// SPDX-License-Identifier: Apache-2.0
#include "taeda/cpu/simd.h"

#include <utility>

#include "taeda/cpu/pointwise_abi.h"
#include "taeda/ops/pointwise_families.h"

#if defined(TAEDA_CPU_POINTWISE_LOOP_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAEDA_CPU_POINTWISE_LOOP_H_
#undef TAEDA_CPU_POINTWISE_LOOP_H_
#else
#define TAEDA_CPU_POINTWISE_LOOP_H_
#endif

HWY_BEFORE_NAMESPACE();
namespace taeda::cpu {
namespace HWY_NAMESPACE {

/// A bool input as the formulas see it: a mask.
template <class V>
HWY_INLINE MaskOf<V> as_mask(V byte_lanes) {
  if constexpr (kIsFloating<V>) return float_mask<V>(to_bits(byte_lanes) != IntOf<V>(0));
  else return byte_lanes != V(0);
}

namespace detail {

template <class V>
constexpr bool kIsMask = false;
template <class D>
constexpr bool kIsMask<MaskD<D>> = true;

// Bytes to integer lanes (the float lanes' bits), zero-extended.
template <class D>
HWY_INLINE VecOf<D> load_bytes(const char* p) {
  using U = hn::RebindToUnsigned<D>;
  const auto bytes = hn::LoadU(hn::Rebind<uint8_t, D>(), reinterpret_cast<const uint8_t*>(p));
  const auto words = hn::PromoteTo(hn::Rebind<uint32_t, D>(), bytes);
  if constexpr (sizeof(hn::TFromD<D>) == 4) return VecOf<D>(hn::BitCast(D(), words));
  else return VecOf<D>(hn::BitCast(D(), hn::PromoteTo(U(), words)));
}

template <class D>
HWY_INLINE void store_result(VecOf<D> v, char* p) {
  v.store(reinterpret_cast<hn::TFromD<D>*>(p));
}
template <class D>
HWY_INLINE void store_result(MaskD<D> m, char* p) {
  const hn::RebindToUnsigned<D> du;
  const auto ones = hn::IfThenElseZero(hn::RebindMask(du, m.raw), hn::Set(du, 1));
  const hn::Rebind<uint8_t, D> bytes;
  hn::StoreU(hn::TruncateTo(bytes, ones), bytes, reinterpret_cast<uint8_t*>(p));
}

// Fewer than kLimit <= 64 bytes, in a few moves that overlap.
template <size_t kLimit>
HWY_INLINE void copy_small(char* to, const char* from, size_t bytes) {
  const auto move_ends = [&](auto word) {
    auto tail = word;
    std::memcpy(&word, from, sizeof(word));
    std::memcpy(&tail, from + bytes - sizeof(word), sizeof(word));
    std::memcpy(to, &word, sizeof(word));
    std::memcpy(to + bytes - sizeof(word), &tail, sizeof(word));
  };
  struct Bytes16 { uint64_t a, b; };
  struct Bytes32 { Bytes16 a, b; };
  if (kLimit > 32 && bytes >= 32) return move_ends(Bytes32{});
  if (kLimit > 16 && bytes >= 16) return move_ends(Bytes16{});
  if (kLimit > 8 && bytes >= 8) return move_ends(uint64_t{0});
  if (kLimit > 4 && bytes >= 4) return move_ends(uint32_t{0});
  if (bytes == 0) return;
  to[0] = from[0];
  to[bytes / 2] = from[bytes / 2];
  to[bytes - 1] = from[bytes - 1];
}

// n elements, fewer than a vector, to a buffer padded with zeros.
template <class D, bool kBytes>
HWY_INLINE void load_padded(char* buffer, const char* from, int64_t n) {
  if constexpr (kBytes || HWY_TARGET == HWY_SSE4) {  // SSE4 has no masked load: Highway's reads the whole vector
    constexpr size_t kElement = kBytes ? 1 : sizeof(hn::TFromD<D>);
    std::memset(buffer, 0, hn::MaxLanes(D()) * kElement);
    copy_small<hn::MaxLanes(D()) * kElement>(buffer, from, static_cast<size_t>(n) * kElement);
  } else {
    using T = hn::TFromD<D>;
    const auto some = hn::MaskedLoad(hn::FirstN(D(), static_cast<size_t>(n)), D(), reinterpret_cast<const T*>(from));
    hn::StoreU(some, D(), reinterpret_cast<T*>(buffer));
  }
}

template <class T, class F, size_t... I>
HWY_INLINE void run_loop(PointwiseLoop self, std::index_sequence<I...>, char* const* ptrs, const int64_t* strides, int64_t n, const void* attrs) {
  using V = Vec<T>;
  using D = typename V::Tag;
  using Result = decltype(F::template call<V>(nullptr, nullptr));
  constexpr int64_t kN = static_cast<int64_t>(V::kLanes);
  constexpr int64_t kOutSize = kIsMask<Result> ? 1 : sizeof(T);
  constexpr bool kByte[] = {((F::mask_inputs >> I) & 1) != 0 ..., false};
  constexpr int64_t kSize[] = {(kByte[I] ? 1 : static_cast<int64_t>(sizeof(T)))..., 0};

  const bool direct = (strides[0] == kOutSize) & (... & ((strides[I + 1] == kSize[I]) | (strides[I + 1] == 0)));
  if (HWY_UNLIKELY(!direct)) {
    constexpr uint64_t kSizes = static_cast<uint64_t>(kOutSize) | (0 | ... | (static_cast<uint64_t>(kSize[I]) << (8 * (I + 1))));
    return run_pointwise_strided(self, sizeof...(I), kSizes, ptrs, strides, n, attrs);
  }

  V a[F::attrs + 1];
  for (int k = 0; k < F::attrs; ++k) a[k] = V(static_cast<const T*>(attrs)[k]);

  HWY_ALIGN char buffers[sizeof...(I) + 1][kN * sizeof(T)];
  const char* from[] = {ptrs[I + 1]..., nullptr};
  int64_t step[] = {(strides[I + 1] == 0 ? 0 : kN * kSize[I])..., 0};
  const auto broadcast = [&](int k, bool byte) HWY_ATTR {
    if (byte) std::memset(buffers[k], *from[k], kN);
    else V(*reinterpret_cast<const T*>(from[k])).store(reinterpret_cast<T*>(buffers[k]));
    from[k] = buffers[k];
  };
  ((step[I] == 0 && n > 0 ? broadcast(I, kByte[I]) : void()), ...);

  char* out = ptrs[0];
  char* tail_out = nullptr;
  int64_t tail = 0;
  for (int64_t left = n;;) {
    for (; left >= kN; left -= kN) {
      const V x[] = {(kByte[I] ? load_bytes<D>(from[I]) : V::load(reinterpret_cast<const T*>(from[I])))..., V()};
      store_result(F::template call<V>(x, a), out);
      ((from[I] += step[I]), ...);
      out += kN * kOutSize;
    }
    if (left == 0) break;
    ((step[I] != 0 ? (load_padded<D, kByte[I]>(buffers[I], from[I], left), void(from[I] = buffers[I])) : void()), ...);
    tail_out = out;
    tail = left;
    out = buffers[sizeof...(I)];
    left = kN;
  }
  if (tail_out != nullptr) copy_small<kN * kOutSize>(tail_out, buffers[sizeof...(I)], static_cast<size_t>(tail * kOutSize));
}

}  // namespace detail

template <class T, class F>
void pointwise_loop(char* const* ptrs, const int64_t* strides, int64_t n, const void* attrs) {
  detail::run_loop<T, F>(&pointwise_loop<T, F>, std::make_index_sequence<F::inputs>(), ptrs, strides, n, attrs);
}

/// The loops of the forward F, for the compute types that `Op` has.
template <class Op, class F>
constexpr PointwiseKernel make_pointwise_kernel() {
  PointwiseKernel kernel{};
  if constexpr (Op::floats) {
    kernel.f32 = &pointwise_loop<float, F>;
    kernel.f64 = &pointwise_loop<double, F>;
  }
  if constexpr ((Op::ints || Op::bools) && Op::rule != ResultRule::kFloat) kernel.i64 = &pointwise_loop<int64_t, F>;
  return kernel;
}

/// The loops of a gradient: floating types only.
template <class F>
constexpr PointwiseKernel make_pointwise_grad_kernel() {
  return PointwiseKernel{&pointwise_loop<float, F>, &pointwise_loop<double, F>, nullptr};
}

}  // namespace HWY_NAMESPACE
}  // namespace taeda::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
