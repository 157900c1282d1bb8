// SPDX-License-Identifier: Apache-2.0
// Matrix products over batches and threads, and those of integers.
#include "taeda/ops/kernels/matmul.h"

#include <algorithm>

#include "taeda/core/parallel.h"
#include "taeda/cpu/gemm.h"

namespace taeda {
namespace cpu {
namespace {

constexpr int64_t kSerialWork = 1 << 18;  // multiplications that are not worth a second thread
constexpr int64_t kPanel = 48;            // boundary of the parts, a multiple of every register tile

/// Splits C along its longer side. Every element is summed in the same order whatever the number of threads.
template <class T>
void gemm_threaded(const Gemm<T>& g) {
  if (g.m * g.n * g.k <= kSerialWork || in_parallel_region()) return gemm_serial(g);
  const bool by_rows = g.m > g.n;
  const int64_t length = by_rows ? g.m : g.n;
  const int64_t other = by_rows ? g.n : g.m;
  const int64_t grain = std::max<int64_t>(1, kSerialWork / std::max<int64_t>(1, kPanel * other * g.k));
  parallel_for(0, (length + kPanel - 1) / kPanel, grain, [&](int64_t begin, int64_t end) {
    Gemm<T> part = g;
    const int64_t first = begin * kPanel;
    const int64_t count = std::min(end * kPanel, length) - first;
    if (by_rows) {
      part.m = count;
      part.a += first * g.a_row;
      part.c += first * g.c_row;
    } else {
      part.n = count;
      part.b += first * g.b_col;
      part.c += first;
      if (g.bias) part.bias += first;
    }
    gemm_serial(part);
  });
}

template <class T>
Gemm<T> describe(const MatmulArgs& x, int64_t at) {
  Gemm<T> g;
  g.m = x.m, g.n = x.n, g.k = x.k;
  g.a = reinterpret_cast<const T*>(x.a) + at * x.a_batch;
  g.a_row = x.a_row, g.a_col = x.a_col;
  g.b = reinterpret_cast<const T*>(x.b) + at * x.b_batch;
  g.b_row = x.b_row, g.b_col = x.b_col;
  g.c = reinterpret_cast<T*>(x.c) + at * x.c_batch;
  g.c_row = x.c_row;
  g.alpha = x.alpha.unchecked<T>();
  g.beta = x.beta.unchecked<T>();
  g.bias = reinterpret_cast<const T*>(x.bias);
  return g;
}

template <class T>
void run_floating(const MatmulArgs& x) {
  if (x.batch == 1) return gemm(describe<T>(x, 0));
  const int64_t work = std::max<int64_t>(1, x.m * x.n * x.k);
  if (x.batch >= get_num_threads() || work < kSerialWork) {
    parallel_for(0, x.batch, std::max<int64_t>(1, kSerialWork / work), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) gemm_serial(describe<T>(x, i));
    });
  } else {
    for (int64_t i = 0; i < x.batch; ++i) gemm(describe<T>(x, i));
  }
}

/// Integers wrap.
template <class T>
void run_integral(const MatmulArgs& x) {
  using U = std::make_unsigned_t<T>;
  const int64_t work = std::max<int64_t>(1, x.n * x.k);
  const U alpha = static_cast<U>(x.alpha.unchecked<int64_t>());
  const U beta = static_cast<U>(x.beta.unchecked<int64_t>());
  const bool keeps = !x.beta.equal(0);
  parallel_for(0, x.batch * x.m, std::max<int64_t>(1, 65536 / work), [&](int64_t begin, int64_t end) {
    for (int64_t at = begin; at < end; ++at) {
      const int64_t i = at % x.m;
      const Gemm<T> g = describe<T>(x, at / x.m);
      T* row = g.c + i * g.c_row;
      for (int64_t j = 0; j < x.n; ++j) {
        U value = keeps ? static_cast<U>(beta * static_cast<U>(row[j])) : U(0);
        if (g.bias) value = static_cast<U>(value + static_cast<U>(g.bias[j]));
        row[j] = static_cast<T>(value);
      }
      for (int64_t p = 0; p < x.k; ++p) {
        const U factor = static_cast<U>(alpha * static_cast<U>(g.a[i * g.a_row + p * g.a_col]));
        const T* b = g.b + p * g.b_row;
        for (int64_t j = 0; j < x.n; ++j) {
          row[j] = static_cast<T>(static_cast<U>(static_cast<U>(row[j]) + static_cast<U>(factor * static_cast<U>(b[j * g.b_col]))));
        }
      }
    }
  });
}

void matmul_cpu(const KernelContext&, const MatmulArgs& x) {
  if (x.dtype == kFloat) return run_floating<float>(x);
  if (x.dtype == kDouble) return run_floating<double>(x);
  dispatch_integral(x.dtype, "matmul", [&]<class T>() { run_integral<T>(x); });
}

}  // namespace

void gemm(const Gemm<float>& g) { gemm_threaded(g); }
void gemm(const Gemm<double>& g) { gemm_threaded(g); }

}  // namespace cpu

constinit DeviceKernel<void(const MatmulArgs&)> matmul_kernel{&cpu::matmul_cpu};

}  // namespace taeda
