// SPDX-License-Identifier: Apache-2.0
// The negative log-likelihood, forward and backward.
#include "taeda/ops/kernels/loss.h"

#include "taeda/core/parallel.h"

namespace taeda {
namespace cpu {
namespace {

template <class T>
void nll(const NllArgs& a) {
  const T* x = static_cast<const T*>(a.in);
  const T* w = static_cast<const T*>(a.weight);
  T* out = static_cast<T*>(a.out);
  double total = 0, weights = 0;
  for (int64_t i = 0; i < a.batch * a.inner; ++i) {
    const int64_t c = a.target[i];
    const bool counts = c != a.ignore_index;
    TAEDA_CHECK_INDEX(!counts || (c >= 0 && c < a.classes), "[nll_loss] Target ", c, " is out of bounds: there are ", a.classes,
                      " classes; use targets from 0 to ", a.classes - 1, " or ignore_index");
    T loss = 0;
    if (counts) {
      const T wc = w ? w[c] : T(1);
      loss = -x[(i / a.inner * a.classes + c) * a.inner + i % a.inner] * wc;
      weights += static_cast<double>(wc);
    }
    if (a.reduction == 0) out[i] = loss;
    else total += static_cast<double>(loss);
  }
  *static_cast<T*>(a.total_weight) = static_cast<T>(a.reduction == 0 ? 0 : weights);
  if (a.reduction == 1) out[0] = static_cast<T>(total / weights);
  if (a.reduction == 2) out[0] = static_cast<T>(total);
}

template <class T>
void nll_backward(const NllBackwardArgs& a) {
  const T* g = static_cast<const T*>(a.grad);
  const T* w = static_cast<const T*>(a.weight);
  T* out = static_cast<T*>(a.out);
  const T divisor = a.reduction == 1 ? *static_cast<const T*>(a.total_weight) : T(1);
  for (int64_t i = 0; i < a.batch * a.inner; ++i) {
    const int64_t c = a.target[i];
    if (c == a.ignore_index) continue;
    TAEDA_CHECK_INDEX(c >= 0 && c < a.classes, "[nll_loss] Target ", c, " is out of bounds: there are ", a.classes,
                      " classes; use targets from 0 to ", a.classes - 1, " or ignore_index");
    const T wc = w ? w[c] : T(1);
    out[(i / a.inner * a.classes + c) * a.inner + i % a.inner] = -wc * (a.reduction == 0 ? g[i] : g[0]) / divisor;
  }
}

void nll_cpu(const KernelContext&, const NllArgs& a) { a.dtype == kFloat ? nll<float>(a) : nll<double>(a); }
void nll_backward_cpu(const KernelContext&, const NllBackwardArgs& a) {
  a.dtype == kFloat ? nll_backward<float>(a) : nll_backward<double>(a);
}

}  // namespace
}  // namespace cpu

constinit DeviceKernel<void(const NllArgs&)> nll_kernel{&cpu::nll_cpu};
constinit DeviceKernel<void(const NllBackwardArgs&)> nll_backward_kernel{&cpu::nll_backward_cpu};

}  // namespace taeda
