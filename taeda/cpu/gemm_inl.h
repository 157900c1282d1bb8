// The loops of matrix products, for every SIMD target: packing of panels, the tile kernel, and the blocking around it
// (Goto, van de Geijn 2008). Re-included for every target (see targets.h).
// SPDX-License-Identifier: Apache-2.0
#include "taeda/cpu/targets.h"

#include <algorithm>

#include "taeda/cpu/gemm.h"
#include "taeda/cpu/scratch.h"

#if defined(TAEDA_CPU_GEMM_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAEDA_CPU_GEMM_INL_H_
#undef TAEDA_CPU_GEMM_INL_H_
#else
#define TAEDA_CPU_GEMM_INL_H_
#endif

#include "taeda/cpu/simd.h"

HWY_BEFORE_NAMESPACE();
namespace taeda::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Shape of the register tile: kRows rows of A by kVecs vectors of B.
template <class T>
struct Tile {
  using V = Vec<T>;
  static constexpr int64_t kLanes = static_cast<int64_t>(V::kLanes);
#if HWY_TARGET == HWY_AVX3
  static constexpr int kRows = 8, kVecs = 3;
#elif HWY_TARGET == HWY_AVX2
  static constexpr int kRows = 4, kVecs = 3;
#else
  static constexpr int kRows = 4, kVecs = 2;
#endif
  static constexpr int64_t kColumns = kVecs * kLanes;
  static constexpr int kTallPanels = kRows == 4 ? 3 : 1;          // row panels at a time where one vector of columns is left
  static constexpr int64_t kDepth = 256;                          // of one block of the summed dimension
  static constexpr int64_t kBlockRows = 128;                      // of A, packed at a time
  static constexpr int64_t kBlockColumns = kColumns * (1024 / kColumns);
};

template <class V>
HWY_INLINE V load_part(const typename V::Scalar* x, int64_t n) {
#if HWY_TARGET == HWY_SSE4  // its masked load reads the whole vector
  HWY_ALIGN typename V::Scalar buffer[V::kLanes] = {};
  for (int64_t i = 0; i < n; ++i) buffer[i] = x[i];
  return V::load(buffer);
#else
  return V(hn::MaskedLoad(hn::FirstN(typename V::Tag(), static_cast<size_t>(n)), typename V::Tag(), x));
#endif
}
template <class V>
HWY_INLINE void store_part(V v, typename V::Scalar* x, int64_t n) {
#if HWY_TARGET == HWY_SSE4
  HWY_ALIGN typename V::Scalar buffer[V::kLanes];
  v.store(buffer);
  for (int64_t i = 0; i < n; ++i) x[i] = buffer[i];
#else
  hn::BlendedStore(v.raw, hn::FirstN(typename V::Tag(), static_cast<size_t>(n)), typename V::Tag(), x);
#endif
}

/// What happens to a tile of sums on its way into C.
template <class T>
struct Finish {
  T alpha = 1;
  T beta = 0;               ///< 0: C is not read
  const T* bias = nullptr;  ///< by column
  const T* row_bias = nullptr;  ///< by row
  const T* add = nullptr;       ///< laid out as C, whose first element is `origin`
  const T* origin = nullptr;
  bool relu = false;            ///< last of all
};

/// Writes sums into C. Every loop is unrolled, so that the sums stay in registers.
template <class T, int kRows, int kVecs, bool kPart>
HWY_INLINE void store_tile(Vec<T> (&acc)[kRows][kVecs], T* c, int64_t c_row, int64_t last, const Finish<T>& f) {
  using V = Vec<T>;
  constexpr int64_t kL = Tile<T>::kLanes;
  const auto each = [&](const auto& body) HWY_ATTR {
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
      for (int j = 0; j < kVecs; ++j) acc[i][j] = body(acc[i][j], i, j);
    }
  };
  const auto load = [&](const T* from, int j) HWY_ATTR { return kPart && j == kVecs - 1 ? load_part<V>(from + j * kL, last) : V::load(from + j * kL); };
  if (f.alpha != T(1)) {
    const V alpha(f.alpha);
    each([&](V v, int, int) HWY_ATTR { return v * alpha; });
  }
  if (f.beta != T(0)) {
    const V beta(f.beta);
    each([&](V v, int i, int j) HWY_ATTR { return fma(beta, load(c + i * c_row, j), v); });
  }
  if (f.bias) each([&](V v, int, int j) HWY_ATTR { return v + load(f.bias, j); });
  if (f.row_bias) each([&](V v, int i, int) HWY_ATTR { return v + V(f.row_bias[i]); });
  if (f.add) {
    const T* add = f.add + (c - f.origin);
    each([&](V v, int i, int j) HWY_ATTR { return v + load(add + i * c_row, j); });
  }
  if (f.relu) each([](V v, int, int) HWY_ATTR { return maximum(v, V(0)); });
#pragma GCC unroll 16
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kVecs; ++j) {
      T* at = c + i * c_row + j * kL;
      if (kPart && j == kVecs - 1) store_part(acc[i][j], at, last);
      else acc[i][j].store(at);
    }
  }
}

/// kRows · kPanels x kVecs vectors of C. B packed: b[p * Tile::kColumns + j]. A packed too: a[p * Tile::kRows + i], further panels of
/// A k * Tile::kRows apart; or in place, rows being a_row apart.
template <class T, int kRows, int kVecs, int kPanels, bool kInPlace>
HWY_NOINLINE void tile_packed(int64_t k, const T* HWY_RESTRICT a, int64_t a_row, const T* HWY_RESTRICT b, T* c, int64_t c_row, int64_t last,
                              const Finish<T>& f) {
  using V = Vec<T>;
  constexpr int kAll = kRows * kPanels;
  const int64_t row = kInPlace ? a_row : 1, panel = kInPlace ? a_row * kRows : k * Tile<T>::kRows;
  V acc[kAll][kVecs];
#pragma GCC unroll 16
  for (int i = 0; i < kAll; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVecs; ++j) acc[i][j] = V(0);
  }
  for (int64_t p = 0; p < k; ++p) {
    V bv[kVecs];
#pragma GCC unroll 8
    for (int j = 0; j < kVecs; ++j) bv[j] = V::load(b + j * Tile<T>::kLanes);
#pragma GCC unroll 16
    for (int i = 0; i < kAll; ++i) {
      const V av(a[i / kRows * panel + i % kRows * row]);
#pragma GCC unroll 8
      for (int j = 0; j < kVecs; ++j) acc[i][j] = fma(av, bv[j], acc[i][j]);
    }
    a += kInPlace ? 1 : Tile<T>::kRows;
    b += Tile<T>::kColumns;
  }
  if (last == Tile<T>::kLanes) {
    store_tile<T, kAll, kVecs, false>(acc, c, c_row, last, f);
  } else {
    store_tile<T, kAll, kVecs, true>(acc, c, c_row, last, f);
  }
}

/// The same with A of any strides and B by rows.
template <class T, int kRows, int kVecs, bool kPart>
HWY_NOINLINE void tile_direct(const Gemm<T>& g, const T* a, const T* b, T* c, int64_t last, const Finish<T>& f) {
  using V = Vec<T>;
  constexpr int64_t kL = Tile<T>::kLanes;
  V acc[kRows][kVecs];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVecs; ++j) acc[i][j] = V(0);
  }
  const int64_t a_row = g.a_row;
  for (int64_t p = 0; p < g.k; ++p) {
    V bv[kVecs];
#pragma GCC unroll 8
    for (int j = 0; j < kVecs; ++j) {
      bv[j] = kPart && j == kVecs - 1 ? load_part<V>(b + j * kL, last) : V::load(b + j * kL);
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) {
      const V av(a[i * a_row]);
#pragma GCC unroll 8
      for (int j = 0; j < kVecs; ++j) acc[i][j] = fma(av, bv[j], acc[i][j]);
    }
    a += g.a_col;
    b += g.b_row;
  }
  store_tile<T, kRows, kVecs, kPart>(acc, c, g.c_row, last, f);
}

template <class T>
using PackedTile = void (*)(int64_t, const T*, int64_t, const T*, T*, int64_t, int64_t, const Finish<T>&);
/// The kernel for kRows rows and `vecs` vectors of columns.
template <class T, int kRows, bool kInPlace>
HWY_INLINE PackedTile<T> packed_tile(int64_t vecs) {
  if constexpr (Tile<T>::kVecs == 3) {
    if (vecs == 3) return &tile_packed<T, kRows, 3, 1, kInPlace>;
  }
  return vecs == 2 ? &tile_packed<T, kRows, 2, 1, kInPlace> : &tile_packed<T, kRows, 1, 1, kInPlace>;
}

/// `height` rows of C and one panel of columns. A: packed rows, or rows in place, a_row apart.
template <class T, bool kInPlace>
void run_panel(int64_t height, int64_t columns, int64_t k, const T* a, int64_t a_row, const T* b, T* c, int64_t c_row, const Finish<T>& finish) {
  using G = Tile<T>;
  const int64_t vecs = (columns + G::kLanes - 1) / G::kLanes;
  const int64_t last = columns - (vecs - 1) * G::kLanes;
  const int64_t step = kInPlace ? a_row : k;  // from one row of A to the next; packed rows lie in panels
  int64_t i = 0;
  const auto run = [&]<int kR, int kPanels = 1>() {
    const PackedTile<T> tile = kPanels > 1 ? &tile_packed<T, kR, 1, kPanels, kInPlace> : packed_tile<T, kR, kInPlace>(vecs);
    for (; i + kR * kPanels <= height; i += kR * kPanels) {
      Finish<T> f = finish;
      if (f.row_bias) f.row_bias += i;
      tile(k, a + i * step, a_row, b, c + i * c_row, c_row, last, f);
    }
  };
  // One vector of columns: more rows at a time, so that sums don't wait for each other.
  if (G::kTallPanels > 1 && vecs == 1) run.template operator()<G::kRows, G::kTallPanels>();
  run.template operator()<G::kRows>();
  if constexpr (kInPlace) {
    if constexpr (G::kRows == 8) run.template operator()<4>();
    run.template operator()<2>();
    run.template operator()<1>();
    return;
  }
  if (i == height) return;
  // What is left of packed rows is computed as a whole panel, beside C.
  HWY_ALIGN T buffer[G::kRows * G::kColumns];
  packed_tile<T, G::kRows, kInPlace>(vecs)(k, a + i * step, a_row, b, buffer, G::kColumns, G::kLanes, Finish<T>{});
  for (int64_t at = 0; i < height; ++i, ++at) {
    for (int64_t j = 0; j < columns; ++j) {
      T value = buffer[at * G::kColumns + j] * finish.alpha;
      if (finish.beta != T(0)) value += finish.beta * c[i * c_row + j];
      if (finish.bias) value += finish.bias[j];
      if (finish.row_bias) value += finish.row_bias[i];
      if (finish.add) value += finish.add[c - finish.origin + i * c_row + j];
      if (finish.relu) value = hn::GetLane(maximum(Lane<T>(value), Lane<T>(0)).raw);
      c[i * c_row + j] = value;
    }
  }
}

/// 4 lanes of float or 2 of double, for transposing while packing.
template <class T>
HWY_INLINE void transpose_block(const T* from, int64_t stride, T* to, int64_t to_stride);
template <>
HWY_INLINE void transpose_block(const float* from, int64_t stride, float* to, int64_t to_stride) {
  const hn::Full128<float> d;
  const hn::Full128<double> dd;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + stride);
  const auto r2 = hn::LoadU(d, from + 2 * stride), r3 = hn::LoadU(d, from + 3 * stride);
  const auto a = hn::BitCast(dd, hn::InterleaveLower(d, r0, r1)), b = hn::BitCast(dd, hn::InterleaveLower(d, r2, r3));
  const auto e = hn::BitCast(dd, hn::InterleaveUpper(d, r0, r1)), g = hn::BitCast(dd, hn::InterleaveUpper(d, r2, r3));
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, a, b)), d, to);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, a, b)), d, to + to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, e, g)), d, to + 2 * to_stride);
  hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, e, g)), d, to + 3 * to_stride);
}
template <>
HWY_INLINE void transpose_block(const double* from, int64_t stride, double* to, int64_t to_stride) {
  const hn::Full128<double> d;
  const auto r0 = hn::LoadU(d, from), r1 = hn::LoadU(d, from + stride);
  hn::StoreU(hn::InterleaveLower(d, r0, r1), d, to);
  hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, to + to_stride);
}

/// Packs elements (i, p) at from[i * i_stride + p * p_stride] as to[p * kWidth + i], i < count (zeros up to kWidth).
template <class T, int64_t kWidth>
void pack_panel(const T* from, int64_t i_stride, int64_t p_stride, int64_t count, int64_t k, T* to) {
  using V = Vec<T>;
  constexpr int64_t kL = Tile<T>::kLanes;
  if (i_stride == 1 && count == kWidth && kWidth % kL == 0) {
    for (int64_t p = 0; p < k; ++p) {
#pragma GCC unroll 8
      for (int64_t j = 0; j < kWidth; j += kL) V::load(from + p * p_stride + j).store(to + p * kWidth + j);
    }
    return;
  }
  constexpr int64_t kBlock = 16 / static_cast<int64_t>(sizeof(T));
  if (i_stride == 1 && count == kWidth) {
    const hn::Full128<T> d;
    for (int64_t p = 0; p < k; ++p) {
#pragma GCC unroll 8
      for (int64_t j = 0; j < kWidth; j += kBlock) hn::StoreU(hn::LoadU(d, from + p * p_stride + j), d, to + p * kWidth + j);
    }
    return;
  }
  if (count < kWidth) std::fill(to, to + k * kWidth, T(0));
  int64_t i = 0;
  if (p_stride == 1 && i_stride != 1) {
    for (; i + kBlock <= count; i += kBlock) {
      int64_t p = 0;
      for (; p + kBlock <= k; p += kBlock) transpose_block(from + i * i_stride + p, i_stride, to + p * kWidth + i, kWidth);
      for (; p < k; ++p) {
        for (int64_t e = 0; e < kBlock; ++e) to[p * kWidth + i + e] = from[(i + e) * i_stride + p];
      }
    }
  }
  if (i == count) return;
  for (int64_t p = 0; p < k; ++p) {
    for (int64_t e = i; e < count; ++e) to[p * kWidth + e] = from[e * i_stride + p * p_stride];
  }
}

/// Equal parts no longer than `limit`, a multiple of `unit`.
HWY_INLINE int64_t even_block(int64_t n, int64_t limit, int64_t unit) {
  const int64_t parts = std::max<int64_t>(1, (n + limit - 1) / limit);
  return ((n + parts - 1) / parts + unit - 1) / unit * unit;
}

/// C (m x n) from panels: pack_a(row, rows, p, depth, to) returns the packed rows [row, row + rows) of the depth block
/// that starts at p, or, where PackA::kInPlace, those rows where they are, pack_a.row apart; pack_b(column, columns, p, depth, to) packs columns.
/// The finish is applied once.
template <class T, class PackA, class PackB>
void gemm_blocked(int64_t m, int64_t n, int64_t k, const PackA& pack_a, const PackB& pack_b, T* c, int64_t c_row,
                  const Finish<T>& finish) {
  using G = Tile<T>;
  const int64_t depth = even_block(k, G::kDepth, 1);
  const int64_t rows = even_block(m, G::kBlockRows, G::kRows);
  const int64_t columns = even_block(n, G::kBlockColumns, G::kColumns);
  Scratch<T> a_room(PackA::kInPlace ? 1 : (depth + 1) * rows + G::kColumns);
  Scratch<T> b_room((depth + 1) * columns + G::kColumns);
  for (int64_t jc = 0; jc < n; jc += columns) {
    const int64_t width = std::min(columns, n - jc);
    for (int64_t pc = 0; pc < k; pc += depth) {
      const int64_t deep = std::min(depth, k - pc);
      pack_b(jc, width, pc, deep, b_room.data());
      Finish<T> f = finish;
      if (pc > 0) f.beta = 1;
      if (pc + deep < k) {
        f.bias = f.row_bias = f.add = nullptr;
        f.relu = false;
      }
      for (int64_t ic = 0; ic < m; ic += rows) {
        const int64_t height = std::min(rows, m - ic);
        const T* a = pack_a(ic, height, pc, deep, a_room.data());
        for (int64_t j = 0; j < width; j += G::kColumns) {
          Finish<T> g = f;
          if (g.bias) g.bias += jc + j;
          if (g.row_bias) g.row_bias += ic;
          run_panel<T, PackA::kInPlace>(height, std::min(G::kColumns, width - j), deep, a, pack_a.row, b_room.data() + j * deep,
                                        c + ic * c_row + jc + j, c_row, g);
        }
      }
    }
  }
}

/// Packs rows of a strided A.
template <class T>
struct PackRows {
  static constexpr bool kInPlace = false;
  const T* a;
  int64_t row, col;
  const T* operator()(int64_t i, int64_t count, int64_t p, int64_t depth, T* to) const {
    constexpr int64_t kW = Tile<T>::kRows;
    int64_t e = 0;
    if (row == 1) {
      for (; e + 4 * kW <= count; e += 4 * kW) pack_four(a + i + e + p * col, depth, to + e * depth);
    }
    for (; e < count; e += kW) {
      pack_panel<T, kW>(a + (i + e) * row + p * col, row, col, std::min(kW, count - e), depth, to + e * depth);
    }
    return to;
  }
  /// Four panels side by side, of a matrix stored by columns: every line of the cache is read once.
  void pack_four(const T* from, int64_t depth, T* to) const {
    constexpr int64_t kW = Tile<T>::kRows, kBlock = 16 / static_cast<int64_t>(sizeof(T));
    const hn::Full128<T> d;
    for (int64_t p = 0; p < depth; ++p, from += col, to += kW) {
#pragma GCC unroll 16
      for (int64_t j = 0; j < 4 * kW; j += kBlock) hn::StoreU(hn::LoadU(d, from + j), d, to + j / kW * kW * depth + j % kW);
    }
  }
};
/// Rows of an A whose elements adjoin along them.
template <class T>
struct RowsInPlace {
  static constexpr bool kInPlace = true;
  const T* a;
  int64_t row;
  const T* operator()(int64_t i, int64_t, int64_t p, int64_t, T*) const { return a + i * row + p; }
};
/// Packs columns of a strided B.
template <class T>
struct PackColumns {
  const T* b;
  int64_t row, col;
  void operator()(int64_t j, int64_t count, int64_t p, int64_t depth, T* to) const {
    constexpr int64_t kW = Tile<T>::kColumns;
    for (int64_t e = 0; e < count; e += kW) {
      pack_panel<T, kW>(b + p * row + (j + e) * col, col, row, std::min(kW, count - e), depth, to + e * depth);
    }
  }
};

template <class V>
HWY_INLINE typename V::Scalar lanes_sum(V v) {
  return hn::GetLane(hn::SumOfLanes(typename V::Tag(), v.raw));
}

/// kM rows of A against kN columns of B, both contiguous along k.
template <class T, int kM, int kN>
HWY_NOINLINE void tile_dots(const Gemm<T>& g, const T* a, const T* b, T* c, const Finish<T>& f) {
  using V = Vec<T>;
  constexpr int64_t kL = Tile<T>::kLanes;
  V acc[kM][kN];
#pragma GCC unroll 4
  for (int i = 0; i < kM; ++i) {
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) acc[i][j] = V(0);
  }
  const auto step = [&](int64_t p, auto load) HWY_ATTR {
    V av[kM];
#pragma GCC unroll 4
    for (int i = 0; i < kM; ++i) av[i] = load(a + i * g.a_row + p);
#pragma GCC unroll 4
    for (int j = 0; j < kN; ++j) {
      const V bv = load(b + j * g.b_col + p);
#pragma GCC unroll 4
      for (int i = 0; i < kM; ++i) acc[i][j] = fma(av[i], bv, acc[i][j]);
    }
  };
  int64_t p = 0;
  for (; p + kL <= g.k; p += kL) step(p, [](const T* x) HWY_ATTR { return V::load(x); });
  if (p < g.k) {
    const int64_t rest = g.k - p;
    step(p, [rest](const T* x) HWY_ATTR { return load_part<V>(x, rest); });
  }
  for (int i = 0; i < kM; ++i) {
    for (int j = 0; j < kN; ++j) {
      T value = lanes_sum(acc[i][j]) * f.alpha;
      T* at = c + i * g.c_row + j;
      if (f.beta != T(0)) value += f.beta * *at;
      if (f.bias) value += f.bias[j];
      *at = value;
    }
  }
}

template <class T>
void gemm_dots(const Gemm<T>& g) {
  const Finish<T> f{g.alpha, g.beta, g.bias, nullptr};
  const auto columns = [&]<int kM>(int64_t i) {
    Finish<T> h = f;
    int64_t j = 0;
    for (; j + 4 <= g.n; j += 4) {
      h.bias = f.bias ? f.bias + j : nullptr;
      tile_dots<T, kM, 4>(g, g.a + i * g.a_row, g.b + j * g.b_col, g.c + i * g.c_row + j, h);
    }
    for (; j < g.n; ++j) {
      h.bias = f.bias ? f.bias + j : nullptr;
      tile_dots<T, kM, 1>(g, g.a + i * g.a_row, g.b + j * g.b_col, g.c + i * g.c_row + j, h);
    }
  };
  int64_t i = 0;
  for (; i + 4 <= g.m; i += 4) columns.template operator()<4>(i);
  for (; i + 2 <= g.m; i += 2) columns.template operator()<2>(i);
  for (; i < g.m; ++i) columns.template operator()<1>(i);
}

template <class T>
void gemm_direct(const Gemm<T>& g) {
  constexpr int64_t kL = Tile<T>::kLanes;
  constexpr int kVecs = Tile<T>::kVecs;
  const auto rows = [&]<int kV, bool kPart>(int64_t j, int64_t last) {
    Finish<T> f{g.alpha, g.beta, g.bias ? g.bias + j : nullptr, nullptr};
    int64_t i = 0;
    const auto run = [&]<int kR>() {
      for (; i + kR <= g.m; i += kR) {
        tile_direct<T, kR, kV, kPart>(g, g.a + i * g.a_row, g.b + j, g.c + i * g.c_row + j, last, f);
      }
    };
    if constexpr (Tile<T>::kRows == 8) run.template operator()<8>();
    run.template operator()<4>();
    run.template operator()<2>();
    run.template operator()<1>();
  };
  int64_t j = 0;
  for (; j + kVecs * kL <= g.n; j += kVecs * kL) rows.template operator()<kVecs, false>(j, kL);
  const int64_t rest = g.n - j;
  if (rest == 0) return;
  const int64_t vecs = (rest + kL - 1) / kL;
  const int64_t last = rest - (vecs - 1) * kL;
  if (kVecs == 3 && vecs == 3) {
    rows.template operator()<kVecs, true>(j, last);
  } else if (vecs == 2) {
    last == kL ? rows.template operator()<2, false>(j, last) : rows.template operator()<2, true>(j, last);
  } else {
    last == kL ? rows.template operator()<1, false>(j, last) : rows.template operator()<1, true>(j, last);
  }
}

/// The product of a column and a row, nothing else: one term for each element, by the same operation as a sum of one term.
template <class T>
void gemm_outer(const Gemm<T>& g) {
  using V = Vec<T>;
  constexpr int64_t kL = Tile<T>::kLanes;
  int64_t j = 0;
  for (; j + 4 * kL <= g.n; j += 4 * kL) {
    const V b0 = V::load(g.b + j), b1 = V::load(g.b + j + kL), b2 = V::load(g.b + j + 2 * kL), b3 = V::load(g.b + j + 3 * kL);
    T* c = g.c + j;
    for (int64_t i = 0; i < g.m; ++i, c += g.c_row) {
      const V a(g.a[i * g.a_row]);
      fma(a, b0, V(0)).store(c);
      fma(a, b1, V(0)).store(c + kL);
      fma(a, b2, V(0)).store(c + 2 * kL);
      fma(a, b3, V(0)).store(c + 3 * kL);
    }
  }
  for (; j < g.n; j += kL) {
    const int64_t last = std::min(kL, g.n - j);
    const V b = load_part<V>(g.b + j, last);
    for (int64_t i = 0; i < g.m; ++i) store_part(fma(V(g.a[i * g.a_row]), b, V(0)), g.c + i * g.c_row + j, last);
  }
}

/// Below this many elements B is taken to stay in the first cache, and is read in place.
constexpr int64_t kDirectElements = 8192;

template <class T>
void gemm_one(const Gemm<T>& g) {
  if (g.m == 0 || g.n == 0) return;
  if (g.k == 0) return gemm_direct(g);
  if (g.k == 1 && g.b_col == 1 && g.alpha == T(1) && g.beta == T(0) && !g.bias) return gemm_outer(g);
  if (g.b_col == 1 && (g.m <= Tile<T>::kRows || (g.k * g.n <= kDirectElements && (g.a_col == 1 || g.k * g.m <= kDirectElements)))) {
    return gemm_direct(g);
  }
  if (g.b_row == 1 && g.a_col == 1 && (g.m <= 4 || g.n <= 2 || (g.m <= 16 && g.n * g.k < 2048))) return gemm_dots(g);
  const Finish<T> finish{g.alpha, g.beta, g.bias, nullptr};
  const PackColumns<T> columns{g.b, g.b_row, g.b_col};
  if (g.a_col == 1) return gemm_blocked<T>(g.m, g.n, g.k, RowsInPlace<T>{g.a, g.a_row}, columns, g.c, g.c_row, finish);
  gemm_blocked<T>(g.m, g.n, g.k, PackRows<T>{g.a, g.a_row, g.a_col}, columns, g.c, g.c_row, finish);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace taeda::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
