// SPDX-License-Identifier: Apache-2.0
// Layout, conversion and threads for pointwise kernels.
#include "taeda/ops/pointwise_run.h"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "cpu/pointwise_ids.h"
#include "taeda/core/overlap.h"
#include "taeda/cpu/pointwise_abi.h"
#include "taeda/ops/finite.h"
#include "taeda/ops/pointwise_convert.h"
#include "taeda/ops/strided_iteration.h"

namespace taeda::pointwise {

namespace {

/// Elements converted at a time: small enough for the first-level cache.
constexpr int64_t kBlock = 256;
constexpr int kMaxOperands = 8;

template <class To, class From>
inline To convert(From value) {
  if constexpr (std::is_same_v<To, bool>) {
    return static_cast<OpMath<From>>(value) != OpMath<From>(0);
  } else if constexpr (std::is_integral_v<To> && is_floating<From>) {
    const auto wide = static_cast<double>(static_cast<OpMath<From>>(value));
    // Outside int64 (and NaN) the conversion is undefined in C++: give the hardware's "integer indefinite".
    if (!(wide >= -9223372036854775808.0 && wide < 9223372036854775808.0)) {
      return static_cast<To>(std::numeric_limits<int64_t>::min());
    }
    return static_cast<To>(static_cast<int64_t>(wide));
  } else if constexpr (is_reduced_float<To>) {
    return To(static_cast<float>(static_cast<OpMath<From>>(value)));
  } else {
    return static_cast<To>(static_cast<OpMath<From>>(value));
  }
}

template <class To, class From>
void convert_loop(char* to, int64_t to_stride, const char* from, int64_t from_stride, int64_t n) {
  if (to_stride == sizeof(To) && from_stride == sizeof(From)) {
    auto* out = reinterpret_cast<To*>(to);
    const auto* in = reinterpret_cast<const From*>(from);
    for (int64_t i = 0; i < n; ++i) out[i] = convert<To>(in[i]);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    *reinterpret_cast<To*>(to + i * to_stride) = convert<To>(*reinterpret_cast<const From*>(from + i * from_stride));
  }
}

}  // namespace

ConvertLoop convert_loop_for(ScalarType to, ScalarType from) {
  return dispatch_all(to, "copy_", [&]<class To>() {
    return dispatch_all(from, "copy_", [&]<class From>() -> ConvertLoop { return &convert_loop<To, From>; });
  });
}

namespace {

cpu::PointwiseLoop pick_loop(int id, ScalarType compute, const char* name) {
  const cpu::PointwiseKernel& kernel = cpu::pointwise_kernel(static_cast<cpu::PointwiseKernelId>(id));
  const cpu::PointwiseLoop loop = compute == kFloat ? kernel.f32 : compute == kDouble ? kernel.f64 : kernel.i64;
  TAEDA_CHECK_NOT_IMPLEMENTED(loop != nullptr, "[", name, "] is not defined for ",
                              compute == kLong ? "integers" : to_string(compute), "; convert with .to(dtype) first");
  return loop;
}

/// One number in the compute type (or a truth byte).
struct Constant {
  alignas(8) char bytes[8];
  void set(const Scalar& s, ScalarType type) {
    if (type == kFloat) {
      const float v = s.unchecked<float>();
      std::memcpy(bytes, &v, sizeof v);
    } else if (type == kDouble) {
      const double v = s.unchecked<double>();
      std::memcpy(bytes, &v, sizeof v);
    } else if (type == kBool) {
      bytes[0] = s.unchecked<bool>();
    } else {
      const auto v = s.unchecked<int64_t>();
      std::memcpy(bytes, &v, sizeof v);
    }
  }
};

ScalarType compute_type(ScalarType t) {
  if (t == kDouble) return kDouble;
  return is_floating_type(t) ? kFloat : kLong;
}

/// A kernel with the conversions its operands need.
struct Job {
  cpu::PointwiseLoop loop;
  const void* attrs;
  int operands;                         // output first
  size_t itemsize[kMaxOperands];        // as the kernel sees them
  ConvertLoop convert[kMaxOperands];    // null: taken as it is
  bool any_convert = false;

  void operator()(char* const* ptrs, const int64_t* strides, int64_t n) const {
    if (!any_convert) return loop(ptrs, strides, n, attrs);
    alignas(64) char buffers[kMaxOperands][kBlock * 8];
    for (int64_t start = 0; start < n; start += kBlock) {
      const int64_t length = std::min(kBlock, n - start);
      char* block_ptrs[kMaxOperands];
      int64_t block_strides[kMaxOperands];
      for (int k = 0; k < operands; ++k) {
        char* at = ptrs[k] + start * strides[k];
        block_ptrs[k] = at;
        block_strides[k] = strides[k];
        if (!convert[k]) continue;
        block_ptrs[k] = buffers[k];
        block_strides[k] = static_cast<int64_t>(itemsize[k]);
        if (k > 0) {
          const bool one = strides[k] == 0;
          convert[k](buffers[k], block_strides[k], at, strides[k], one ? 1 : length);
          if (one) block_strides[k] = 0;
        }
      }
      loop(block_ptrs, block_strides, length, attrs);
      if (convert[0]) {
        convert[0](ptrs[0] + start * strides[0], strides[0], buffers[0], block_strides[0], length);
      }
    }
  }
};

bool same_dense_layout(const TensorImpl& out, const TensorImpl& t) {
  if (t.numel != out.numel || t.ndim != out.ndim) return false;
  if (out.contiguous && t.contiguous) return t.sizes() == out.sizes();
  return t.sizes() == out.sizes() && t.strides() == out.strides() && out.is_non_overlapping_and_dense();
}

/// Runs the kernel block by block and checks each block while it is in the cache.
TAEDA_NOINLINE void run_checked(const Job& job, char* const* base, const int64_t* strides, const TensorImpl& out) {
  constexpr int64_t kCheckedBlock = 4096;
  std::atomic<bool> finite{true};
  parallel_for(0, out.numel, kPointwiseGrain, [&](int64_t begin, int64_t end) {
    char* ptrs[kMaxOperands];
    bool fine = true;
    for (int64_t at = begin; at < end; at += kCheckedBlock) {
      const int64_t n = std::min(kCheckedBlock, end - at);
      for (int k = 0; k < job.operands; ++k) ptrs[k] = base[k] + at * strides[k];
      job(ptrs, strides, n);
      fine = fine && detail::all_finite(ptrs[0], n, out.dtype);
    }
    if (!fine) finite.store(false, std::memory_order_relaxed);
  });
  if (finite.load(std::memory_order_relaxed)) detail::tls_finite_blocks.add(out.data());
}

}  // namespace

void execute(int id, ScalarType compute_dtype, const TensorImpl& out, const Input* in, int inputs, const Scalar* attrs,
             int attributes, const char* name) {
  const ScalarType compute = compute_type(compute_dtype);
  const cpu::PointwiseKernelInfo& info = cpu::pointwise_kernel_info(static_cast<cpu::PointwiseKernelId>(id));
  Job job;
  job.loop = pick_loop(id, compute, name);
  alignas(8) char attr_bytes[8 * 8];
  for (int i = 0; i < attributes; ++i) {
    Constant c;
    c.set(attrs[i], compute);
    std::memcpy(attr_bytes + static_cast<size_t>(i) * item_size(compute), c.bytes, item_size(compute));
  }
  job.attrs = attr_bytes;
  job.operands = inputs + 1;
  Constant constants[kMaxOperands];
  const ScalarType out_type = info.bool_result ? kBool : compute;
  job.itemsize[0] = item_size(out_type);
  job.convert[0] = out.dtype == out_type ? nullptr : convert_loop_for(out.dtype, out_type);
  job.any_convert = job.convert[0] != nullptr;
  bool flat = out.contiguous || out.is_non_overlapping_and_dense();
  for (int i = 0; i < inputs; ++i) {
    const ScalarType wanted = (info.mask_inputs >> i) & 1 ? kBool : compute;
    const TensorImpl* t = in[i].tensor;
    job.itemsize[i + 1] = item_size(wanted);
    job.convert[i + 1] = nullptr;
    if (!t) {
      constants[i].set(in[i].scalar, wanted);
      continue;
    }
    if (t->dtype != wanted) {
      job.convert[i + 1] = convert_loop_for(wanted, t->dtype);
      job.any_convert = true;
    }
    flat = flat && (t->numel == 1 || same_dense_layout(out, *t));
  }
  if (flat) {
    char* base[kMaxOperands];
    int64_t strides[kMaxOperands];
    base[0] = out.data();
    strides[0] = static_cast<int64_t>(out.itemsize());
    for (int i = 0; i < inputs; ++i) {
      const TensorImpl* t = in[i].tensor;
      base[i + 1] = t ? t->data() : constants[i].bytes;
      strides[i + 1] = t && (t->numel != 1 || out.numel == 1) ? static_cast<int64_t>(t->itemsize()) : 0;
    }
    if (TAEDA_UNLIKELY((tls_modes.anomaly_level != 0) && is_floating_type(out.dtype))) {
      run_checked(job, base, strides, out);
      return;
    }
    parallel_for(0, out.numel, kPointwiseGrain, [&](int64_t begin, int64_t end) {
      char* ptrs[kMaxOperands];
      for (int k = 0; k <= inputs; ++k) ptrs[k] = base[k] + begin * strides[k];
      job(ptrs, strides, end - begin);
    });
    return;
  }
  StridedIteration<kMaxOperands> iteration(out.sizes());
  iteration.add(out);
  for (int i = 0; i < inputs; ++i) {
    if (in[i].tensor) {
      iteration.add(*in[i].tensor);
    } else {
      iteration.add_constant(constants[i].bytes);
    }
  }
  iteration.finish();
  // Elements that share memory are written in their order, by one thread.
  const bool ordered = out.numel > detail::grain_of(kPointwiseGrain) && detail::may_overlap_itself(out.sizes(), out.strides());
  iteration.run(ordered ? INT64_MAX : kPointwiseGrain, job);
}

namespace {
/// Copy of a matrix whose rows and columns swap roles, tile by tile so that both sides stay in cache.
template <class T>
void transpose_copy(char* to, const int64_t* to_strides, const char* from, const int64_t* from_strides, int64_t rows,
                    int64_t columns) {
  constexpr int64_t kTile = 32;
  const int64_t row_tiles = (rows + kTile - 1) / kTile;
  parallel_for(0, row_tiles, std::max<int64_t>(1, kPointwiseGrain / (kTile * columns)), [&](int64_t begin, int64_t end) {
    for (int64_t tile = begin; tile < end; ++tile) {
      const int64_t r0 = tile * kTile;
      const int64_t r1 = std::min(rows, r0 + kTile);
      for (int64_t c0 = 0; c0 < columns; c0 += kTile) {
        const int64_t c1 = std::min(columns, c0 + kTile);
        for (int64_t r = r0; r < r1; ++r) {
          char* out = to + r * to_strides[0];
          const char* in = from + r * from_strides[0];
          for (int64_t c = c0; c < c1; ++c) {
            *reinterpret_cast<T*>(out + c * to_strides[1]) = *reinterpret_cast<const T*>(in + c * from_strides[1]);
          }
        }
      }
    }
  });
}
}  // namespace

void copy_elements(const TensorImpl& out, const TensorImpl& source) {
  if (out.numel == 0) return;
  const bool same_type = out.dtype == source.dtype;
  if (same_dense_layout(out, source)) {
    const size_t item = out.itemsize();
    char* to = out.data();
    const char* from = source.data();
    if (same_type) {
      parallel_for(0, out.numel, 4 * kPointwiseGrain, [&](int64_t begin, int64_t end) {
        std::memmove(to + begin * static_cast<int64_t>(item), from + begin * static_cast<int64_t>(item),
                     static_cast<size_t>(end - begin) * item);
      });
      return;
    }
    const ConvertLoop loop = convert_loop_for(out.dtype, source.dtype);
    const auto from_item = static_cast<int64_t>(source.itemsize());
    parallel_for(0, out.numel, kPointwiseGrain, [&](int64_t begin, int64_t end) {
      loop(to + begin * static_cast<int64_t>(item), static_cast<int64_t>(item), from + begin * from_item, from_item, end - begin);
    });
    return;
  }
  if (same_type && out.ndim == 2 && source.ndim == 2 && out.numel >= 4096 && out.sizes() == source.sizes() &&
      (out.strides()[0] > out.strides()[1]) != (source.strides()[0] > source.strides()[1])) {
    const auto item = static_cast<int64_t>(out.itemsize());
    const int64_t to_strides[2] = {out.strides()[0] * item, out.strides()[1] * item};
    const int64_t from_strides[2] = {source.strides()[0] * item, source.strides()[1] * item};
    dispatch_bytes(out.dtype, "copy_", [&]<class T>() {
      transpose_copy<T>(out.data(), to_strides, source.data(), from_strides, out.sizes()[0], out.sizes()[1]);
    });
    return;
  }
  StridedIteration<2> iteration(out.sizes());
  iteration.add(out);
  iteration.add(source);
  iteration.finish();
  const ConvertLoop loop = convert_loop_for(out.dtype, source.dtype);
  const auto item = static_cast<int64_t>(out.itemsize());
  iteration.run(kPointwiseGrain, [&](char* const* ptrs, const int64_t* strides, int64_t n) {
    if (same_type && strides[0] == item && strides[1] == item) {
      std::memmove(ptrs[0], ptrs[1], static_cast<size_t>(n) * static_cast<size_t>(item));
    } else {
      loop(ptrs[0], strides[0], ptrs[1], strides[1], n);
    }
  });
}

}  // namespace taeda::pointwise
