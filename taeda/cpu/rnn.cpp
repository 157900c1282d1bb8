// SPDX-License-Identifier: Apache-2.0
// Recurrent layers: the loop over time around one matrix product and one pass over the gates for each step.
// LSTM: Hochreiter, Schmidhuber 1997; GRU: Cho et al. 2014, in the form with the bias inside the reset product.
#include "taeda/ops/kernels/rnn.h"

#include <algorithm>

#include "taeda/core/parallel.h"
#include "taeda/cpu/gemm.h"
#include "taeda/cpu/scratch.h"
#include "taeda/cpu/simd_target.h"
#include "taeda/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "taeda/cpu/rnn.cpp"
#include <hwy/foreach_target.h>

#include "taeda/cpu/math.h"

#ifndef TAEDA_CPU_RNN_ONCE
#define TAEDA_CPU_RNN_ONCE
namespace taeda::cpu {
namespace {

/// The pass over one row of `n` units. Null pointers stand for what a kind does not have.
template <class T>
struct RnnRow {
  const T* gates;         // input's share
  const T* hidden_gates;  // hidden state's share
  const T* h;             // state before
  const T* c;
  T* h_out;
  T* c_out;
  T* acts;
};
template <class T>
struct RnnGradRow {
  const T* acts;
  const T* h;      // before the step
  const T* c;      // before the step
  const T* h_out;  // after it
  const T* c_out;
  const T* dh;
  T* dc;           // in: gradient of c_out; out: of c
  T* grad_gates;
  T* grad_hidden_gates;
  T* dh_direct;    // the part of the gradient of h that does not go through the product; added to
};
template <class T>
struct RnnLoops {
  void (*forward[4])(const RnnRow<T>&, int64_t n);
  void (*backward[4])(const RnnGradRow<T>&, int64_t n);
};

}  // namespace
}  // namespace taeda::cpu
#endif

HWY_BEFORE_NAMESPACE();
namespace taeda::cpu {
namespace HWY_NAMESPACE {
namespace {

/// Runs f.operator()<V>(i) over whole vectors, then over single lanes.
template <class T, class F>
HWY_INLINE void over_units(int64_t n, const F& f) {
  constexpr int64_t kL = static_cast<int64_t>(Vec<T>::kLanes);
  int64_t i = 0;
  for (; i + kL <= n; i += kL) f.template operator()<Vec<T>>(i);
  for (; i < n; ++i) f.template operator()<Lane<T>>(i);
}

template <class T>
void lstm_row(const RnnRow<T>& r, int64_t n) {
  over_units<T>(n, [&]<class V>(int64_t i) HWY_ATTR {
    const auto gate = [&](int64_t k) HWY_ATTR { return V::load(r.gates + k * n + i) + V::load(r.hidden_gates + k * n + i); };
    const V in = sigmoid(gate(0)), forget = sigmoid(gate(1)), cell = tanh(gate(2)), out = sigmoid(gate(3));
    const V c = forget * V::load(r.c + i) + in * cell;
    const V h = out * tanh(c);
    in.store(r.acts + i);
    forget.store(r.acts + n + i);
    cell.store(r.acts + 2 * n + i);
    out.store(r.acts + 3 * n + i);
    c.store(r.c_out + i);
    h.store(r.h_out + i);
  });
}
template <class T>
void lstm_grad_row(const RnnGradRow<T>& r, int64_t n) {
  over_units<T>(n, [&]<class V>(int64_t i) HWY_ATTR {
    const V one(1);
    const V in = V::load(r.acts + i), forget = V::load(r.acts + n + i), cell = V::load(r.acts + 2 * n + i), out = V::load(r.acts + 3 * n + i);
    const V dh = V::load(r.dh + i), t = tanh(V::load(r.c_out + i));
    const V dc = V::load(r.dc + i) + dh * out * (one - t * t);
    (dc * cell * in * (one - in)).store(r.grad_gates + i);
    (dc * V::load(r.c + i) * forget * (one - forget)).store(r.grad_gates + n + i);
    (dc * in * (one - cell * cell)).store(r.grad_gates + 2 * n + i);
    (dh * t * out * (one - out)).store(r.grad_gates + 3 * n + i);
    (dc * forget).store(r.dc + i);
  });
}

template <class T>
void gru_row(const RnnRow<T>& r, int64_t n) {
  over_units<T>(n, [&]<class V>(int64_t i) HWY_ATTR {
    const V reset = sigmoid(V::load(r.gates + i) + V::load(r.hidden_gates + i));
    const V update = sigmoid(V::load(r.gates + n + i) + V::load(r.hidden_gates + n + i));
    const V share = V::load(r.hidden_gates + 2 * n + i);
    const V fresh = tanh(V::load(r.gates + 2 * n + i) + reset * share);
    const V h = fresh + update * (V::load(r.h + i) - fresh);
    reset.store(r.acts + i);
    update.store(r.acts + n + i);
    fresh.store(r.acts + 2 * n + i);
    share.store(r.acts + 3 * n + i);
    h.store(r.h_out + i);
  });
}
template <class T>
void gru_grad_row(const RnnGradRow<T>& r, int64_t n) {
  over_units<T>(n, [&]<class V>(int64_t i) HWY_ATTR {
    const V one(1);
    const V reset = V::load(r.acts + i), update = V::load(r.acts + n + i), fresh = V::load(r.acts + 2 * n + i), share = V::load(r.acts + 3 * n + i);
    const V dh = V::load(r.dh + i);
    const V d_fresh = dh * (one - update) * (one - fresh * fresh);
    const V d_update = dh * (V::load(r.h + i) - fresh) * update * (one - update);
    const V d_reset = d_fresh * share * reset * (one - reset);
    d_reset.store(r.grad_gates + i);
    d_update.store(r.grad_gates + n + i);
    d_fresh.store(r.grad_gates + 2 * n + i);
    d_reset.store(r.grad_hidden_gates + i);
    d_update.store(r.grad_hidden_gates + n + i);
    (d_fresh * reset).store(r.grad_hidden_gates + 2 * n + i);
    (V::load(r.dh_direct + i) + dh * update).store(r.dh_direct + i);
  });
}

template <class T, bool kRelu>
void plain_row(const RnnRow<T>& r, int64_t n) {
  over_units<T>(n, [&]<class V>(int64_t i) HWY_ATTR {
    const V x = V::load(r.gates + i) + V::load(r.hidden_gates + i);
    if constexpr (kRelu) select(x <= V(0), V(0), x).store(r.h_out + i);
    else tanh(x).store(r.h_out + i);
  });
}
template <class T, bool kRelu>
void plain_grad_row(const RnnGradRow<T>& r, int64_t n) {
  over_units<T>(n, [&]<class V>(int64_t i) HWY_ATTR {
    const V dh = V::load(r.dh + i), h = V::load(r.h_out + i);
    if constexpr (kRelu) select(h > V(0), dh, V(0)).store(r.grad_gates + i);
    else (dh * (V(1) - h * h)).store(r.grad_gates + i);
  });
}

template <class T>
constexpr RnnLoops<T> rnn_table() {
  return {{&lstm_row<T>, &gru_row<T>, &plain_row<T, false>, &plain_row<T, true>},
          {&lstm_grad_row<T>, &gru_grad_row<T>, &plain_grad_row<T, false>, &plain_grad_row<T, true>}};
}

}  // namespace

extern const RnnLoops<float> kRnnF32;
extern const RnnLoops<double> kRnnF64;
const RnnLoops<float> kRnnF32 = rnn_table<float>();
const RnnLoops<double> kRnnF64 = rnn_table<double>();

}  // namespace HWY_NAMESPACE
}  // namespace taeda::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taeda::cpu {
namespace {

template <class T>
const RnnLoops<T>& rnn_loops() {
  if constexpr (std::is_same_v<T, float>) {
    switch (simd_target()) {
      case SimdTarget::Avx512: return N_AVX3::kRnnF32;
      case SimdTarget::Avx2: return N_AVX2::kRnnF32;
      default: return N_SSE4::kRnnF32;
    }
  } else {
    switch (simd_target()) {
      case SimdTarget::Avx512: return N_AVX3::kRnnF64;
      case SimdTarget::Avx2: return N_AVX2::kRnnF64;
      default: return N_SSE4::kRnnF64;
    }
  }
}

int64_t gates_of(RnnKind kind) { return kind == RnnKind::kLstm ? 4 : kind == RnnKind::kGru ? 3 : 1; }
int64_t acts_of(RnnKind kind) { return kind == RnnKind::kLstm || kind == RnnKind::kGru ? 4 : 0; }

/// Calls f(row) for every row, on several threads when there is enough to do.
template <class F>
void over_rows(const RnnArgs& x, const F& f) {
  parallel_for(0, x.batch, std::max<int64_t>(1, 8192 / std::max<int64_t>(1, x.hidden)), [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) f(row);
  });
}

template <class T>
T* add(T* p, int64_t offset) { return p ? p + offset : nullptr; }
template <class T>
const T* in(const char* p) { return reinterpret_cast<const T*>(p); }
template <class T>
T* out(char* p) { return reinterpret_cast<T*>(p); }

template <class T>
void run_rnn(const RnnArgs& x) {
  const int64_t n = x.hidden, width = gates_of(x.kind) * n, kept = acts_of(x.kind) * n, step_size = x.batch * n;
  const auto row_loop = rnn_loops<T>().forward[static_cast<int>(x.kind)];
  const bool product = x.w_hh != nullptr;
  Scratch<T> turned(product ? width * n : 1);  // the weight with adjoining gates, for vector loads
  Scratch<T> room(product ? x.batch * width : 1);
  if (product) {
    const T* w = in<T>(x.w_hh);
    for (int64_t g = 0; g < width; ++g) {
      for (int64_t k = 0; k < n; ++k) turned[k * width + g] = w[g * n + k];
    }
  }
  const T* h = in<T>(x.h0);
  const T* c = in<T>(x.c0);
  for (int64_t s = 0; s < x.steps; ++s) {
    const int64_t t = x.reverse ? x.steps - 1 - s : s;
    const T* hidden_gates = in<T>(x.hidden_gates);
    if (product) {
      Gemm<T> g{x.batch, width, n, h, n, 1, turned.data(), width, 1, room.data(), width};
      g.bias = in<T>(x.b_hh);
      gemm(g);
      hidden_gates = room.data();
    }
    T* h_out = out<T>(x.output) + t * step_size;
    T* c_out = add(out<T>(x.cells), t * step_size);
    over_rows(x, [&](int64_t row) {
      RnnRow<T> r{in<T>(x.gates) + (t * x.batch + row) * width, hidden_gates + row * width, add(h, row * n), add(c, row * n), h_out + row * n,
                  add(c_out, row * n), add(out<T>(x.acts), (t * x.batch + row) * kept)};
      row_loop(r, n);
    });
    h = h_out;
    c = c_out;
  }
}

template <class T>
void run_rnn_grad(const RnnArgs& x) {
  const int64_t n = x.hidden, width = gates_of(x.kind) * n, kept = acts_of(x.kind) * n, step_size = x.batch * n;
  const auto row_loop = rnn_loops<T>().backward[static_cast<int>(x.kind)];
  const bool gru = x.kind == RnnKind::kGru;
  T* dh = out<T>(x.grad_h0);  // of the state after the step at hand; becomes that of the first state
  T* dc = out<T>(x.grad_c0);
  std::fill(dh, dh + step_size, T(0));
  if (dc) std::fill(dc, dc + step_size, T(0));
  Scratch<T> total(step_size);
  for (int64_t s = x.steps - 1; s >= 0; --s) {
    const int64_t t = x.reverse ? x.steps - 1 - s : s;
    const int64_t before = x.reverse ? t + 1 : t - 1;
    const T* grad_output = add(in<T>(x.grad_output), t * step_size);
    const T* grad_cells = add(in<T>(x.grad_cells), t * step_size);
    const T* h = s == 0 ? in<T>(x.h0) : in<T>(x.output) + before * step_size;
    const T* c = s == 0 ? in<T>(x.c0) : add(in<T>(x.cells), before * step_size);
    T* grad_gates = out<T>(x.grad_gates) + t * x.batch * width;
    T* grad_hidden_gates = gru ? out<T>(x.grad_hidden_gates) + t * x.batch * width : grad_gates;
    over_rows(x, [&](int64_t row) {
      const int64_t at = row * n;
      for (int64_t k = at; k < at + n; ++k) total[k] = dh[k] + (grad_output ? grad_output[k] : T(0));
      if (grad_cells) {
        for (int64_t k = at; k < at + n; ++k) dc[k] += grad_cells[k];
      }
      std::fill(dh + at, dh + at + n, T(0));
      RnnGradRow<T> r{add(in<T>(x.acts), (t * x.batch + row) * kept), add(h, at), add(c, at), in<T>(x.output) + t * step_size + at,
                      add(in<T>(x.cells), t * step_size + at), total.data() + at, add(dc, at), grad_gates + row * width,
                      grad_hidden_gates + row * width, dh + at};
      row_loop(r, n);
    });
    if (x.w_hh) {
      Gemm<T> g{x.batch, n, width, grad_hidden_gates, width, 1, in<T>(x.w_hh), n, 1, dh, n};
      g.beta = 1;
      gemm(g);
    }
  }
}

void rnn_cpu(const KernelContext&, const RnnArgs& x) { x.dtype == kFloat ? run_rnn<float>(x) : run_rnn<double>(x); }
void rnn_grad_cpu(const KernelContext&, const RnnArgs& x) { x.dtype == kFloat ? run_rnn_grad<float>(x) : run_rnn_grad<double>(x); }

}  // namespace
}  // namespace taeda::cpu

namespace taeda {
constinit DeviceKernel<void(const RnnArgs&)> rnn_kernel{&cpu::rnn_cpu};
constinit DeviceKernel<void(const RnnArgs&)> rnn_grad_kernel{&cpu::rnn_grad_cpu};
}  // namespace taeda
#endif
