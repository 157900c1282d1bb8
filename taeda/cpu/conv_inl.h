// Convolutions as matrix products whose right factor, the patches of the image, is made panel by panel while packing.
// The image is first copied with its padding, the columns of each row sorted by their remainder modulo the stride;
// then every run of outputs along a row reads consecutive elements, whatever kernel, stride or dilation.
// Re-included for every target (see targets.h).
// SPDX-License-Identifier: Apache-2.0
#include "taeda/cpu/targets.h"

#include <algorithm>
#include <vector>

#include "taeda/core/parallel.h"
#include "taeda/cpu/conv.h"

#if defined(TAEDA_CPU_CONV_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TAEDA_CPU_CONV_INL_H_
#undef TAEDA_CPU_CONV_INL_H_
#else
#define TAEDA_CPU_CONV_INL_H_
#endif

#include "taeda/cpu/gemm_inl.h"

HWY_BEFORE_NAMESPACE();
namespace taeda::cpu {
namespace HWY_NAMESPACE {
namespace {

constexpr int64_t kConvSerialWork = 1 << 18;

HWY_INLINE int64_t product(const int64_t (&x)[3]) { return x[0] * x[1] * x[2]; }

/// One group of a plain convolution: `channels` in, `maps` out. pad may be negative (cropping).
struct Patches {
  int64_t channels, maps;
  int64_t in[3], out[3], kernel[3], stride[3], pad[3], dilation[3];
  int64_t padded[3];       // extents of the padded image that are read
  int64_t phase_length;    // columns of one remainder
  int64_t row;             // elements of a row, all remainders
  int64_t plane;           // elements of one channel
  std::vector<int64_t> tap_offset;  // for each (channel, tap): its place for output pixel 0
  int64_t last_offset = 0;          // the largest of them

  int64_t pixels() const { return product(out); }
  int64_t taps() const { return product(kernel); }
  int64_t depth() const { return channels * taps(); }
  int64_t image() const { return channels * product(in); }
  void finish() {
    for (int d = 0; d < 3; ++d) padded[d] = (out[d] - 1) * stride[d] + dilation[d] * (kernel[d] - 1) + 1;
    phase_length = (padded[2] + stride[2] - 1) / stride[2];
    row = phase_length * stride[2];
    plane = padded[0] * padded[1] * row;
    tap_offset.reserve(static_cast<size_t>(depth()));
    for (int64_t c = 0; c < channels; ++c) {
      for (int64_t z = 0; z < kernel[0]; ++z) {
        for (int64_t y = 0; y < kernel[1]; ++y) {
          for (int64_t x = 0; x < kernel[2]; ++x) {
            const int64_t w = x * dilation[2];
            tap_offset.push_back(c * plane + (z * dilation[0] * padded[1] + y * dilation[1]) * row + w % stride[2] * phase_length + w / stride[2]);
          }
        }
      }
    }
    if (!tap_offset.empty()) last_offset = *std::max_element(tap_offset.begin(), tap_offset.end());
  }
  /// True when the image can be read where it is.
  bool is_plain() const {
    return stride[2] == 1 && pad[0] == 0 && pad[1] == 0 && pad[2] == 0 && padded[0] == in[0] && padded[1] == in[1] && padded[2] == in[2];
  }
  int64_t pixel_offset(int64_t pixel) const {
    const int64_t x = pixel % out[2], rest = pixel / out[2];
    const int64_t y = rest % out[1], z = rest / out[1];
    return (z * stride[0] * padded[1] + y * stride[1]) * row + x;
  }
};

/// Copies channels [begin, end) of an image with padding; room for a vector is needed behind the last element.
template <class T>
void pad_image(const Patches& g, const T* image, int64_t begin, int64_t end, T* to) {
  for (int64_t c = begin; c < end; ++c) {
    for (int64_t z = 0; z < g.padded[0]; ++z) {
      for (int64_t y = 0; y < g.padded[1]; ++y) {
        T* line = to + c * g.plane + (z * g.padded[1] + y) * g.row;
        const int64_t iz = z - g.pad[0], iy = y - g.pad[1];
        if (iz < 0 || iz >= g.in[0] || iy < 0 || iy >= g.in[1]) {
          std::fill(line, line + g.row, T(0));
          continue;
        }
        const T* from = image + ((c * g.in[0] + iz) * g.in[1] + iy) * g.in[2];
        const int64_t s = g.stride[2], p = g.pad[2], w = g.in[2];
        for (int64_t phase = 0; phase < s; ++phase) {
          T* part = line + phase * g.phase_length;
          // Element q holds column q s + phase - p of the image.
          int64_t first = p > phase ? (p - phase + s - 1) / s : 0;
          int64_t last = w - 1 + p - phase < 0 ? 0 : (w - 1 + p - phase) / s + 1;
          first = std::min(first, g.phase_length);
          last = std::clamp(last, first, g.phase_length);
          std::fill(part, part + first, T(0));
          const T* source = from + first * s + phase - p;
          if (s == 1) {
            std::copy(source, source + (last - first), part + first);
          } else {
            for (int64_t q = first; q < last; ++q, source += s) part[q] = *source;
          }
          std::fill(part + last, part + g.phase_length, T(0));
        }
      }
    }
  }
}

/// Consecutive outputs that read consecutive elements.
struct Run {
  int64_t at, from, length;
};
template <int64_t kMax>
HWY_INLINE int find_runs(const Patches& g, int64_t pixel, int64_t count, Run (&runs)[kMax]) {
  int n = 0;
  for (int64_t at = 0; at < count;) {
    const int64_t length = std::min(count - at, g.out[2] - (pixel + at) % g.out[2]);
    const int64_t from = g.pixel_offset(pixel + at);
    if (n > 0 && runs[n - 1].from + runs[n - 1].length == from) {
      runs[n - 1].length += length;
    } else {
      runs[n++] = {at, from, length};
    }
    at += length;
  }
  return n;
}

/// One vector of a packed line: elements `from`… of the image (at tap 0) to columns `at`….
struct VectorCopy {
  int64_t from, at;
};
/// Packs `depth` lines, each made of `count` vectors, kCount of them where that is known. What a vector writes too much, the next one or
/// the next line overwrites.
template <class T, int kCount>
void copy_lines(const T* image, const int64_t* offset, int64_t depth, const VectorCopy* copies, int count, T* to) {
  using V = Vec<T>;
  if constexpr (kCount > 0) {
    VectorCopy fixed[kCount];
    std::copy(copies, copies + kCount, fixed);
    for (int64_t k = 0; k < depth; ++k, to += Tile<T>::kColumns) {
      const T* from = image + offset[k];
#pragma GCC unroll 8
      for (int i = 0; i < kCount; ++i) V::load(from + fixed[i].from).store(to + fixed[i].at);
    }
  } else {
    for (int64_t k = 0; k < depth; ++k, to += Tile<T>::kColumns) {
      const T* from = image + offset[k];
      for (int i = 0; i < count; ++i) V::load(from + copies[i].from).store(to + copies[i].at);
    }
  }
}

/// The same where some vectors would reach beyond element `limit` of the image: those are copied by elements.
template <class T>
void copy_last_lines(const T* image, const int64_t* offset, int64_t depth, const VectorCopy* copies, int count, int64_t limit, T* to) {
  using V = Vec<T>;
  constexpr int64_t kL = Tile<T>::kLanes;
  for (int64_t k = 0; k < depth; ++k, to += Tile<T>::kColumns) {
    for (int i = 0; i < count; ++i) {
      const int64_t from = offset[k] + copies[i].from;
      if (from + kL <= limit) {
        V::load(image + from).store(to + copies[i].at);
      } else {
        std::copy(image + from, image + std::max(from, limit), to + copies[i].at);
      }
    }
  }
}

/// Packs pixels as the columns of B: to[p * kColumns + pixel].
template <class T>
struct PackPixels {
  const Patches* g;
  const T* image;  // padded
  int64_t limit;   // elements that may be read
  int64_t first;   // pixel of column 0
  void operator()(int64_t j, int64_t count, int64_t p, int64_t depth, T* to) const {
    constexpr int64_t kW = Tile<T>::kColumns, kL = Tile<T>::kLanes;
    for (int64_t e = 0; e < count; e += kW, to += kW * depth) {
      const int64_t width = std::min(kW, count - e);
      Run runs[kW];
      const int n = find_runs(*g, first + j + e, width, runs);
      if (width < kW) std::fill(to, to + kW * depth, T(0));
      VectorCopy copies[std::max<int64_t>(kW, 8)];
      int vectors = 0;
      for (int r = 0; r < n; ++r) {
        for (int64_t v = 0; v < runs[r].length; v += kL) copies[vectors++] = {runs[r].from + v, runs[r].at + v};
      }
      const int64_t* offset = g->tap_offset.data() + p;
      int64_t reach = 0;
      for (int i = 0; i < vectors; ++i) reach = std::max(reach, copies[i].from + kL);
      if (g->last_offset + reach > limit && *std::max_element(offset, offset + depth) + reach > limit) {
        copy_last_lines(image, offset, depth, copies, vectors, limit, to);
        continue;
      }
      const auto run = [&]<int kCount>() { copy_lines<T, kCount>(image, offset, depth, copies, vectors, to); };
      switch (vectors) {
        case 1: run.template operator()<1>(); break;
        case 2: run.template operator()<2>(); break;
        case 3: run.template operator()<3>(); break;
        case 4: run.template operator()<4>(); break;
        case 5: run.template operator()<5>(); break;
        case 6: run.template operator()<6>(); break;
        default: run.template operator()<0>();
      }
    }
  }
};

/// Packs taps as the columns of B, pixels being summed: to[pixel * kColumns + tap].
template <class T>
struct PackTaps {
  const Patches* g;
  const T* image;
  int64_t first;  // tap of column 0
  void operator()(int64_t j, int64_t count, int64_t pixel, int64_t depth, T* to) const {
    constexpr int64_t kW = Tile<T>::kColumns;
    constexpr int64_t kBlock = 16 / static_cast<int64_t>(sizeof(T));
    for (int64_t e = 0; e < count; e += kW, to += kW * depth) {
      const int64_t width = std::min(kW, count - e);
      const int64_t* offset = g->tap_offset.data() + first + j + e;
      if (width < kW) std::fill(to, to + kW * depth, T(0));
      for (int64_t at = 0; at < depth;) {
        const int64_t length = std::min(depth - at, g->out[2] - (pixel + at) % g->out[2]);
        const T* from = image + g->pixel_offset(pixel + at);
        int64_t i = 0;
        const int64_t whole = length / kBlock * kBlock;
        for (; i + kBlock <= width; i += kBlock) {
          T* target = to + at * kW + i;
          int64_t q = 0;
          for (; q < whole; q += kBlock) transpose_rows(from + q, offset + i, target + q * kW, kW);
          for (; q < length; ++q) {
            for (int64_t b = 0; b < kBlock; ++b) target[q * kW + b] = from[offset[i + b] + q];
          }
        }
        for (; i < width; ++i) {
          for (int64_t q = 0; q < length; ++q) to[(at + q) * kW + i] = from[offset[i] + q];
        }
        at += length;
      }
    }
  }
  static HWY_INLINE void transpose_rows(const float* from, const int64_t* offset, float* to, int64_t stride) {
    const hn::Full128<float> d;
    const hn::Full128<double> dd;
    const auto r0 = hn::LoadU(d, from + offset[0]), r1 = hn::LoadU(d, from + offset[1]);
    const auto r2 = hn::LoadU(d, from + offset[2]), r3 = hn::LoadU(d, from + offset[3]);
    const auto a = hn::BitCast(dd, hn::InterleaveLower(d, r0, r1)), b = hn::BitCast(dd, hn::InterleaveLower(d, r2, r3));
    const auto e = hn::BitCast(dd, hn::InterleaveUpper(d, r0, r1)), f = hn::BitCast(dd, hn::InterleaveUpper(d, r2, r3));
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, a, b)), d, to);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, a, b)), d, to + stride);
    hn::StoreU(hn::BitCast(d, hn::InterleaveLower(dd, e, f)), d, to + 2 * stride);
    hn::StoreU(hn::BitCast(d, hn::InterleaveUpper(dd, e, f)), d, to + 3 * stride);
  }
  static HWY_INLINE void transpose_rows(const double* from, const int64_t* offset, double* to, int64_t stride) {
    const hn::Full128<double> d;
    const auto r0 = hn::LoadU(d, from + offset[0]), r1 = hn::LoadU(d, from + offset[1]);
    hn::StoreU(hn::InterleaveLower(d, r0, r1), d, to);
    hn::StoreU(hn::InterleaveUpper(d, r0, r1), d, to + stride);
  }
};

/// Rows [first, …) of a left factor that was packed as a whole.
template <class T>
struct PackedRows {
  static constexpr bool kInPlace = false;
  const T* packed;
  int64_t padded_rows;
  int64_t first = 0;
  int64_t row = 0;
  const T* operator()(int64_t i, int64_t, int64_t p, int64_t depth, T*) const { return packed + p * padded_rows + (first + i) * depth; }
};
/// Packs all of a (rows x depth, contiguous) for PackedRows.
template <class T>
void pack_all_rows(const T* a, int64_t rows, int64_t depth, T* to) {
  const int64_t block = even_block(depth, Tile<T>::kDepth, 1);
  const int64_t padded = (rows + Tile<T>::kRows - 1) / Tile<T>::kRows * Tile<T>::kRows;
  const int64_t blocks = (depth + block - 1) / block;
  parallel_for(0, blocks, std::max<int64_t>(1, 65536 / std::max<int64_t>(1, block * rows)), [&](int64_t begin, int64_t end) HWY_ATTR {
    for (int64_t b = begin; b < end; ++b) {
      const int64_t p = b * block;
      PackRows<T>{a, depth, 1}(0, rows, p, std::min(block, depth - p), to + p * padded);
    }
  });
}

/// What follows the sums: bias by map, a tensor laid out as the output, relu.
template <class T>
struct Epilogue {
  const T* bias = nullptr;
  const T* add = nullptr;
  bool relu = false;
  /// Of maps from `map` on, of outputs from `out` elements on.
  Epilogue from(int64_t map, int64_t out) const { return {bias ? bias + map : nullptr, add ? add + out : nullptr, relu}; }
  Finish<T> finish(const T* out) const {
    Finish<T> f;
    f.row_bias = bias, f.add = add, f.origin = out, f.relu = relu;
    return f;
  }
};

/// One channel in, one map out (a group of a depthwise convolution): taps times shifted rows.
template <class T>
void convolve_single(const Patches& g, const T* image, const T* weight, const Epilogue<T>& after, T* out) {
  using V = Vec<T>;
  constexpr int64_t kL = Tile<T>::kLanes;
  const int64_t taps = g.taps();
  const int64_t* offset = g.tap_offset.data();
  const T bias = after.bias ? *after.bias : T(0);
  for (int64_t line = 0; line < g.out[0] * g.out[1]; ++line) {
    const T* from = image + g.pixel_offset(line * g.out[2]);
    T* to = out + line * g.out[2];
    const T* add = after.add ? after.add + line * g.out[2] : nullptr;
    int64_t x = 0;
    for (; x + 2 * kL <= g.out[2]; x += 2 * kL) {
      V a(bias), b(bias);
      for (int64_t k = 0; k < taps; ++k) {
        const V w(weight[k]);
        a = fma(w, V::load(from + offset[k] + x), a);
        b = fma(w, V::load(from + offset[k] + x + kL), b);
      }
      if (add) a = a + V::load(add + x), b = b + V::load(add + x + kL);
      if (after.relu) a = maximum(a, V(0)), b = maximum(b, V(0));
      a.store(to + x);
      b.store(to + x + kL);
    }
    for (; x < g.out[2]; x += kL) {
      const bool part = x + kL > g.out[2];
      V a(bias);
      for (int64_t k = 0; k < taps; ++k) a = fma(V(weight[k]), V::load(from + offset[k] + x), a);
      if (add) a = a + (part ? load_part<V>(add + x, g.out[2] - x) : V::load(add + x));
      if (after.relu) a = maximum(a, V(0));
      if (part) store_part(a, to + x, g.out[2] - x);
      else a.store(to + x);
    }
  }
}

/// An image that may be read up to element `limit`.
template <class T>
struct Image {
  const T* data;
  int64_t limit;
};

/// out (maps, pixels of [begin, end)) of one padded image and one group.
template <class T>
void convolve_pixels(const Patches& g, const Image<T>& image, const T* packed, const Epilogue<T>& after, T* out, int64_t begin, int64_t end) {
  const int64_t padded = (g.maps + Tile<T>::kRows - 1) / Tile<T>::kRows * Tile<T>::kRows;
  gemm_blocked<T>(g.maps, end - begin, g.depth(), PackedRows<T>{packed, padded}, PackPixels<T>{&g, image.data, image.limit, begin}, out + begin,
                  g.pixels(), after.finish(out));
}

/// One channel in, one map out: weights are read as they are.
HWY_INLINE bool is_single(const Patches& g) { return g.channels == 1 && g.maps == 1; }
template <class T>
int64_t packed_elements(const Patches& g) { return (g.maps + Tile<T>::kRows - 1) / Tile<T>::kRows * Tile<T>::kRows * g.depth(); }
/// The weight of all groups, for PackedRows.
template <class T>
void pack_weight(const Patches& g, int64_t groups, const T* weight, T* packed) {
  for (int64_t i = 0; i < groups; ++i) pack_all_rows(weight + i * g.maps * g.depth(), g.maps, g.depth(), packed + i * packed_elements<T>(g));
}

/// The plain convolution over batch and groups. weight: (groups, maps, depth) contiguous, or `packed`.
template <class T>
void convolve(const Patches& g, int64_t batch, int64_t groups, const T* input, const T* weight, const T* packed, const Epilogue<T>& after, T* output) {
  const int64_t pixels = g.pixels();
  if (batch * groups * g.maps * pixels == 0) return;
  const int64_t slack = Tile<T>::kColumns;
  const bool single = is_single(g);
  const int64_t packed_size = packed_elements<T>(g);
  Scratch<T> packed_here(single || packed ? 1 : groups * packed_size + slack);
  if (!single && !packed) {
    pack_weight(g, groups, weight, packed_here.data());
    packed = packed_here.data();
  }
  const int64_t tasks = batch * groups;
  const int64_t work = std::max<int64_t>(1, g.maps * pixels * g.depth());
  const bool in_place = g.is_plain() && !single;
  const auto source = [&](int64_t task, T* room, bool split) -> Image<T> {
    const T* image = input + task * g.image();
    if (in_place) return {image, (tasks - task) * g.image()};
    if (split) {
      parallel_for(0, g.channels, std::max<int64_t>(1, 65536 / std::max<int64_t>(1, g.plane)),
                   [&](int64_t b, int64_t e) HWY_ATTR { pad_image(g, image, b, e, room); });
    } else {
      pad_image(g, image, 0, g.channels, room);
    }
    std::fill(room + g.channels * g.plane, room + g.channels * g.plane + slack, T(0));
    return {room, g.channels * g.plane + slack};
  };
  const int64_t room_size = in_place ? 1 : g.channels * g.plane + slack;
  if (tasks >= get_num_threads() || work < kConvSerialWork) {
    parallel_for(0, tasks, std::max<int64_t>(1, kConvSerialWork / work), [&](int64_t begin, int64_t end) HWY_ATTR {
      Scratch<T> room(room_size);
      for (int64_t task = begin; task < end; ++task) {
        const int64_t group = task % groups, at = task * g.maps * pixels;
        const Image<T> image = source(task, room.data(), false);
        const Epilogue<T> here = after.from(group * g.maps, at);
        if (single) {
          convolve_single(g, image.data, weight + group * g.depth(), here, output + at);
        } else {
          convolve_pixels(g, image, packed + group * packed_size, here, output + at, 0, pixels);
        }
      }
    });
    return;
  }
  Scratch<T> room(room_size);
  for (int64_t task = 0; task < tasks; ++task) {
    const int64_t group = task % groups, at = task * g.maps * pixels;
    const Image<T> image = source(task, room.data(), true);
    const Epilogue<T> here = after.from(group * g.maps, at);
    T* out = output + at;
    const T* rows = packed + group * packed_size;
    constexpr int64_t kW = Tile<T>::kColumns, kR = Tile<T>::kRows;
    const int64_t panels = (pixels + kW - 1) / kW;
    if (single) {
      convolve_single(g, image.data, weight + group * g.depth(), here, out);
    } else if (panels >= 2 * get_num_threads()) {
      parallel_for(0, panels, 1, [&](int64_t b, int64_t e) HWY_ATTR {
        convolve_pixels(g, image, rows, here, out, b * kW, std::min(e * kW, pixels));
      });
    } else {  // few pixels: every thread takes some of the maps
      const int64_t padded_rows = (g.maps + kR - 1) / kR * kR;
      parallel_for(0, padded_rows / kR, 1, [&](int64_t b, int64_t e) HWY_ATTR {
        const int64_t first = b * kR, count = std::min(e * kR, g.maps) - first;
        T* to = out + first * pixels;
        gemm_blocked<T>(count, pixels, g.depth(), PackedRows<T>{rows, padded_rows, first}, PackPixels<T>{&g, image.data, image.limit, 0}, to, pixels,
                        here.from(first, first * pixels).finish(to));
      });
    }
  }
}

HWY_INLINE Patches patches_of(const ConvGeometry& x) {
  Patches g;
  g.channels = x.in_channels, g.maps = x.out_channels;
  for (int d = 0; d < 3; ++d) {
    g.in[d] = x.in[d], g.out[d] = x.out[d], g.kernel[d] = x.kernel[d];
    g.stride[d] = x.stride[d], g.pad[d] = x.pad[d], g.dilation[d] = x.dilation[d];
  }
  g.finish();
  return g;
}

template <class T>
void conv_forward(const ConvArgs& x) {
  const Epilogue<T> after{reinterpret_cast<const T*>(x.bias), reinterpret_cast<const T*>(x.add), x.relu};
  convolve<T>(patches_of(x.geometry), x.geometry.batch, x.geometry.groups, reinterpret_cast<const T*>(x.input), reinterpret_cast<const T*>(x.weight),
              reinterpret_cast<const T*>(x.packed), after, reinterpret_cast<T*>(x.output));
}

template <class T>
int64_t conv_pack(const ConvGeometry& x, const char* weight, char* packed) {
  const Patches g = patches_of(x);
  if (is_single(g)) return 0;
  if (packed) pack_weight(g, x.groups, reinterpret_cast<const T*>(weight), reinterpret_cast<T*>(packed));
  return x.groups * packed_elements<T>(g) + Tile<T>::kColumns;
}

/// Stride 1: the convolution of the cotangent with the mirrored kernel.
template <class T>
void transposed_by_mirror(const ConvArgs& x) {
  const ConvGeometry& f = x.geometry;
  Patches g;
  g.channels = f.out_channels, g.maps = f.in_channels;
  for (int d = 0; d < 3; ++d) {
    g.in[d] = f.out[d], g.out[d] = f.in[d], g.kernel[d] = f.kernel[d];
    g.stride[d] = 1, g.dilation[d] = f.dilation[d];
    g.pad[d] = f.dilation[d] * (f.kernel[d] - 1) - f.pad[d];
  }
  g.finish();
  const int64_t taps = g.taps();
  Scratch<T> mirrored(f.groups * g.maps * g.channels * taps);
  const T* weight = reinterpret_cast<const T*>(x.weight);
  for (int64_t group = 0; group < f.groups; ++group) {
    for (int64_t i = 0; i < g.maps; ++i) {
      for (int64_t o = 0; o < g.channels; ++o) {
        const T* from = weight + ((group * g.channels + o) * g.maps + i) * taps;
        T* to = mirrored.data() + ((group * g.maps + i) * g.channels + o) * taps;
        for (int64_t k = 0; k < taps; ++k) to[k] = from[taps - 1 - k];
      }
    }
  }
  convolve<T>(g, f.batch, f.groups, reinterpret_cast<const T*>(x.output), mirrored.data(), nullptr,
              Epilogue<T>{reinterpret_cast<const T*>(x.bias)}, reinterpret_cast<T*>(x.input));
}

/// Adds column blocks (channel, tap) x pixels to the places of the input that they came from.
template <class T>
void scatter_columns(const Patches& g, const T* columns, T* to) {
  const int64_t pixels = g.pixels();
  for (int64_t c = 0; c < g.channels; ++c) {
    T* plane = to + c * product(g.in);
    for (int64_t z = 0; z < g.kernel[0]; ++z) {
      for (int64_t y = 0; y < g.kernel[1]; ++y) {
        for (int64_t x = 0; x < g.kernel[2]; ++x, columns += pixels) {
          const int64_t shift = x * g.dilation[2] - g.pad[2], s = g.stride[2];
          const int64_t first = shift < 0 ? (-shift + s - 1) / s : 0;
          const int64_t last = std::min(g.out[2], g.in[2] - 1 - shift < 0 ? 0 : (g.in[2] - 1 - shift) / s + 1);
          for (int64_t oz = 0; oz < g.out[0]; ++oz) {
            const int64_t iz = oz * g.stride[0] + z * g.dilation[0] - g.pad[0];
            if (iz < 0 || iz >= g.in[0]) continue;
            for (int64_t oy = 0; oy < g.out[1]; ++oy) {
              const int64_t iy = oy * g.stride[1] + y * g.dilation[1] - g.pad[1];
              if (iy < 0 || iy >= g.in[1]) continue;
              const T* from = columns + (oz * g.out[1] + oy) * g.out[2];
              T* line = plane + (iz * g.in[1] + iy) * g.in[2] + shift;
              for (int64_t ox = first; ox < last; ++ox) line[ox * s] += from[ox];
            }
          }
        }
      }
    }
  }
}

template <class T>
void transposed_by_columns(const ConvArgs& x) {
  const ConvGeometry& f = x.geometry;
  const Patches g = patches_of(f);
  const int64_t depth = g.depth(), pixels = g.pixels(), image = g.image();
  const T* weight = reinterpret_cast<const T*>(x.weight);
  const T* bias = reinterpret_cast<const T*>(x.bias);
  const int64_t work = std::max<int64_t>(1, depth * pixels * g.maps);
  parallel_for(0, f.batch * f.groups, std::max<int64_t>(1, kConvSerialWork / work), [&](int64_t begin, int64_t end) HWY_ATTR {
    Scratch<T> columns(depth * pixels);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t group = task % f.groups;
      T* to = reinterpret_cast<T*>(x.input) + task * image;
      for (int64_t c = 0; c < g.channels; ++c) {
        std::fill(to + c * product(g.in), to + (c + 1) * product(g.in), bias ? bias[group * g.channels + c] : T(0));
      }
      Gemm<T> m{depth, pixels, g.maps, weight + group * g.maps * depth, 1, depth,
                reinterpret_cast<const T*>(x.output) + task * g.maps * pixels, pixels, 1, columns.data(), pixels};
      gemm_one(m);
      scatter_columns(g, columns.data(), to);
    }
  });
}

template <class T>
void conv_transposed(const ConvArgs& x) {
  const ConvGeometry& f = x.geometry;
  const bool unit = f.stride[0] == 1 && f.stride[1] == 1 && f.stride[2] == 1;
  unit ? transposed_by_mirror<T>(x) : transposed_by_columns<T>(x);
}

/// kRows taps against kVecs vectors of maps, summed over pixels: to[tap][map] += Σ image[offset[tap] + pixel] · maps[pixel][map], the
/// cotangent packed as the columns of B. The taps' pixels are read where they are, run by run.
template <class T, int kRows, int kVecs>
HWY_NOINLINE void tile_taps(const T* image, const int64_t* offset, const Run* runs, int64_t count, const T* HWY_RESTRICT maps, T* to, int64_t to_row) {
  using V = Vec<T>;
  constexpr int64_t kL = Tile<T>::kLanes;
  V acc[kRows][kVecs];
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVecs; ++j) acc[i][j] = V::load(to + i * to_row + j * kL);
  }
  for (int64_t r = 0; r < count; ++r) {
    const T* from[kRows];
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) from[i] = image + offset[i] + runs[r].from;
    for (int64_t q = 0; q < runs[r].length; ++q) {
      V bv[kVecs];
#pragma GCC unroll 8
      for (int j = 0; j < kVecs; ++j) bv[j] = V::load(maps + j * kL);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) {
        const V av(from[i][q]);
#pragma GCC unroll 8
        for (int j = 0; j < kVecs; ++j) acc[i][j] = fma(av, bv[j], acc[i][j]);
      }
      maps += Tile<T>::kColumns;
    }
  }
#pragma GCC unroll 8
  for (int i = 0; i < kRows; ++i) {
#pragma GCC unroll 8
    for (int j = 0; j < kVecs; ++j) acc[i][j].store(to + i * to_row + j * kL);
  }
}

/// One panel of maps (`vecs` vectors) for taps [0, taps).
template <class T>
void run_taps(int64_t taps, int64_t vecs, const T* image, const int64_t* offset, const Run* runs, int64_t count, const T* maps, T* to, int64_t to_row) {
  using Kernel = void (*)(const T*, const int64_t*, const Run*, int64_t, const T*, T*, int64_t);
  int64_t i = 0;
  const auto run = [&]<int kR>() {
    Kernel kernel = vecs == 2 ? &tile_taps<T, kR, 2> : &tile_taps<T, kR, 1>;
    if constexpr (Tile<T>::kVecs == 3) {
      if (vecs == 3) kernel = &tile_taps<T, kR, 3>;
    }
    for (; i + kR <= taps; i += kR) kernel(image, offset + i, runs, count, maps, to + i * to_row, to_row);
  };
  if constexpr (Tile<T>::kRows == 8) run.template operator()<8>();
  run.template operator()<4>();
  run.template operator()<2>();
  run.template operator()<1>();
}

/// Adds the gradient of one padded image for `channels` channels from `channel` on to sums[tap][map], rows being `stride` apart. Pixels
/// go in blocks, whose cotangents are packed.
template <class T>
void add_by_taps(const Patches& g, const T* image, const T* cotangent, int64_t channel, int64_t channels, T* sums, int64_t stride, T* packed) {
  constexpr int64_t kW = Tile<T>::kColumns, kL = Tile<T>::kLanes, kDepth = Tile<T>::kDepth;
  const int64_t pixels = g.pixels(), taps = g.taps();
  for (int64_t first = 0; first < pixels; first += kDepth) {
    const int64_t deep = std::min(kDepth, pixels - first);
    Run runs[kDepth];
    const int count = find_runs(g, first, deep, runs);
    PackColumns<T>{cotangent, 1, pixels}(0, g.maps, first, deep, packed);
    for (int64_t j = 0; j < g.maps; j += kW) {
      const int64_t vecs = (std::min(kW, g.maps - j) + kL - 1) / kL;
      run_taps<T>(channels * taps, vecs, image, g.tap_offset.data() + channel * taps, runs, count, packed + j * deep, sums + j, stride);
    }
  }
}

/// Writes the gradient of `channels` channels from `channel` on of one group, summed over images [begin, end), to its place in `to`
/// (maps x depth).
template <class T>
void weight_of_images(const ConvArgs& x, const Patches& g, int64_t group, int64_t begin, int64_t end, int64_t channel, int64_t channels, T* to, T* room) {
  const ConvGeometry& f = x.geometry;
  const int64_t pixels = g.pixels(), taps = g.taps(), rows = channels * taps;
  const bool by_taps = g.maps >= Tile<T>::kLanes;  // enough maps to fill vectors
  const int64_t stride = (g.maps + Tile<T>::kColumns - 1) / Tile<T>::kColumns * Tile<T>::kColumns;
  Scratch<T> sums(by_taps ? rows * stride : 1), packed(by_taps ? Tile<T>::kDepth * stride : 1);
  if (by_taps) std::fill(sums.data(), sums.data() + rows * stride, T(0));
  for (int64_t i = begin; i < end; ++i) {
    const T* image = reinterpret_cast<const T*>(x.input) + (i * f.groups + group) * g.image();
    const T* cotangent = reinterpret_cast<const T*>(x.output) + (i * f.groups + group) * g.maps * pixels;
    if (!g.is_plain()) {  // else nothing outside the image is read
      pad_image(g, image, channel, channel + channels, room);
      image = room;
    }
    if (by_taps) {
      add_by_taps(g, image, cotangent, channel, channels, sums.data(), stride, packed.data());
      continue;
    }
    Finish<T> finish;
    finish.beta = i == begin ? T(0) : T(1);
    gemm_blocked<T>(g.maps, rows, pixels, RowsInPlace<T>{cotangent, pixels}, PackTaps<T>{&g, image, channel * taps}, to + channel * taps, g.depth(),
                    finish);
  }
  if (!by_taps) return;
  constexpr int64_t kBlock = 16 / static_cast<int64_t>(sizeof(T));
  int64_t tap = 0;
  for (; tap + kBlock <= rows; tap += kBlock) {
    int64_t map = 0;
    T* place = to + channel * taps + tap;
    for (; map + kBlock <= g.maps; map += kBlock) transpose_block(sums.data() + tap * stride + map, stride, place + map * g.depth(), g.depth());
    for (; map < g.maps; ++map) {
      for (int64_t e = 0; e < kBlock; ++e) place[map * g.depth() + e] = sums[(tap + e) * stride + map];
    }
  }
  for (; tap < rows; ++tap) {
    for (int64_t map = 0; map < g.maps; ++map) to[map * g.depth() + channel * taps + tap] = sums[tap * stride + map];
  }
}

template <class T>
void conv_weight(const ConvArgs& x) {
  const ConvGeometry& f = x.geometry;
  const Patches g = patches_of(f);
  const int64_t size = g.maps * g.depth();
  T* weight = reinterpret_cast<T*>(x.weight);
  if (f.batch == 0 || g.pixels() == 0) {
    std::fill(weight, weight + f.groups * size, T(0));
    return;
  }
  const int64_t room_size = g.channels * g.plane + Tile<T>::kColumns;
  const int64_t work = std::max<int64_t>(1, size * g.pixels());
  const int64_t threads = get_num_threads();
  if (f.groups >= threads || work * f.batch * f.groups < kConvSerialWork || threads == 1) {
    parallel_for(0, f.groups, std::max<int64_t>(1, kConvSerialWork / (work * f.batch)), [&](int64_t begin, int64_t end) HWY_ATTR {
      Scratch<T> room(room_size);
      for (int64_t group = begin; group < end; ++group) {
        weight_of_images(x, g, group, 0, f.batch, 0, g.channels, weight + group * size, room.data());
      }
    });
  } else if (g.channels >= 8 * threads || f.batch < threads) {  // every thread takes some of the channels
    for (int64_t group = 0; group < f.groups; ++group) {
      parallel_for(0, g.channels, 1, [&](int64_t begin, int64_t end) HWY_ATTR {
        Scratch<T> room(room_size);
        weight_of_images(x, g, group, 0, f.batch, begin, end - begin, weight + group * size, room.data());
      });
    }
  } else {  // every thread takes some of the images; their sums are added in the order of the images
    const int64_t chunk = taeda::detail::parallel_chunk(f.batch, 1);
    const int64_t parts = (f.batch + chunk - 1) / chunk;
    Scratch<T> sums(parts * f.groups * size);
    const auto body = [&](int64_t begin, int64_t end) HWY_ATTR {
      Scratch<T> room(room_size);
      for (int64_t group = 0; group < f.groups; ++group) {
        weight_of_images(x, g, group, begin, end, 0, g.channels, sums.data() + (begin / chunk * f.groups + group) * size, room.data());
      }
    };
    taeda::detail::parallel_chunks(0, f.batch, chunk, taeda::detail::call_range<decltype(body)>, &body);
    for (int64_t i = 0; i < f.groups * size; ++i) {
      T sum = sums[i];
      for (int64_t part = 1; part < parts; ++part) sum += sums[part * f.groups * size + i];
      weight[i] = sum;
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace taeda::cpu
HWY_AFTER_NAMESPACE();

#endif  // per target
