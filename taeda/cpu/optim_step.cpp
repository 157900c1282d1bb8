// SPDX-License-Identifier: Apache-2.0
// Fused optimizer steps: every parameter, gradient and state is read once and written once.
#include "taeda/ops/kernels/optim.h"

#include <algorithm>
#include <vector>

#include "taeda/core/parallel.h"
#include "taeda/cpu/simd_target.h"
#include "taeda/cpu/targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "taeda/cpu/optim_step.cpp"
#include <hwy/foreach_target.h>

#include "taeda/cpu/simd.h"

HWY_BEFORE_NAMESPACE();
namespace taeda::cpu {
namespace HWY_NAMESPACE {
namespace {

// A rule updates a vector of the parameter `p` and of up to three states, given the gradient. Constants are spread once.

/// Stochastic gradient descent with momentum (Sutskever et al. 2013) and decoupled dampening, as PyTorch defines it.
template <class V>
struct Sgd {
  V lr, weight_decay, momentum, keep;
  bool has_momentum, nesterov, first;
  Sgd(const OptimStepArgs& a, const OptimTensor& t)
      : lr(a.lr), weight_decay(a.weight_decay), momentum(a.beta1), keep(1 - a.dampening), has_momentum(a.beta1 != 0),
        nesterov(a.nesterov), first(t.first) {}
  HWY_INLINE void operator()(V& p, V g, V* s) const {
    g = g + weight_decay * p;
    if (has_momentum) {
      s[0] = first ? g : momentum * s[0] + keep * g;
      g = nesterov ? g + momentum * s[0] : s[0];
    }
    p = p - lr * g;
  }
};

/// Adam (Kingma, Ba 2015), AdamW (Loshchilov, Hutter 2019) when decoupled, AMSGrad (Reddi et al. 2018).
template <class V>
struct Adam {
  V decay, shrink, keep1, beta2, keep2, step_size, bias2_scale, eps;
  bool amsgrad;
  Adam(const OptimStepArgs& a, const OptimTensor& t)
      : decay(a.decoupled ? 0.0 : a.weight_decay), shrink(a.decoupled ? 1 - a.lr * a.weight_decay : 1.0), keep1(1 - a.beta1),
        beta2(a.beta2), keep2(1 - a.beta2), step_size(t.step_size), bias2_scale(1 / t.bias2_sqrt), eps(a.eps), amsgrad(a.amsgrad) {}
  HWY_INLINE void operator()(V& p, V g, V* s) const {
    p = p * shrink;
    g = g + decay * p;
    s[0] = s[0] + keep1 * (g - s[0]);
    s[1] = beta2 * s[1] + keep2 * g * g;
    V second = s[1];
    if (amsgrad) second = s[2] = maximum(s[2], s[1]);
    p = p - step_size * s[0] / (sqrt(second) * bias2_scale + eps);
  }
};

/// Adagrad (Duchi, Hazan, Singer 2011). `step_size` holds the decayed rate.
template <class V>
struct Adagrad {
  V rate, weight_decay, eps;
  Adagrad(const OptimStepArgs& a, const OptimTensor& t) : rate(t.step_size), weight_decay(a.weight_decay), eps(a.eps) {}
  HWY_INLINE void operator()(V& p, V g, V* s) const {
    g = g + weight_decay * p;
    s[0] = s[0] + g * g;
    p = p - rate * g / (sqrt(s[0]) + eps);
  }
};

/// RMSprop (Tieleman, Hinton 2012), centered as in Graves 2013. States: square average, momentum buffer, gradient average.
template <class V>
struct Rmsprop {
  V lr, weight_decay, alpha, keep, momentum, eps;
  bool centered, has_momentum;
  Rmsprop(const OptimStepArgs& a, const OptimTensor&)
      : lr(a.lr), weight_decay(a.weight_decay), alpha(a.beta2), keep(1 - a.beta2), momentum(a.beta1), eps(a.eps),
        centered(a.centered), has_momentum(a.beta1 != 0) {}
  HWY_INLINE void operator()(V& p, V g, V* s) const {
    g = g + weight_decay * p;
    s[0] = alpha * s[0] + keep * g * g;
    V second = s[0];
    if (centered) {
      s[2] = s[2] + keep * (g - s[2]);
      second = second - s[2] * s[2];
    }
    V change = g / (sqrt(second) + eps);
    if (has_momentum) change = s[1] = momentum * s[1] + change;
    p = p - lr * change;
  }
};

/// Adadelta (Zeiler 2012). States: averages of squared gradients and of squared changes.
template <class V>
struct Adadelta {
  V lr, weight_decay, rho, keep, eps;
  Adadelta(const OptimStepArgs& a, const OptimTensor&)
      : lr(a.lr), weight_decay(a.weight_decay), rho(a.beta2), keep(1 - a.beta2), eps(a.eps) {}
  HWY_INLINE void operator()(V& p, V g, V* s) const {
    g = g + weight_decay * p;
    s[0] = rho * s[0] + keep * g * g;
    const V change = sqrt(s[1] + eps) / sqrt(s[0] + eps) * g;
    s[1] = rho * s[1] + keep * change * change;
    p = p - lr * change;
  }
};

/// Adamax (Kingma, Ba 2015): the largest decayed gradient takes the place of the second moment.
template <class V>
struct Adamax {
  V weight_decay, keep1, beta2, eps, step_size;
  Adamax(const OptimStepArgs& a, const OptimTensor& t)
      : weight_decay(a.weight_decay), keep1(1 - a.beta1), beta2(a.beta2), eps(a.eps), step_size(t.step_size) {}
  HWY_INLINE void operator()(V& p, V g, V* s) const {
    g = g + weight_decay * p;
    s[0] = s[0] + keep1 * (g - s[0]);
    s[1] = maximum(beta2 * s[1], abs(g) + eps);
    p = p - step_size * s[0] / s[1];
  }
};

/// NAdam (Dozat 2016). `step_size` belongs to the gradient, `second_step` to its average.
template <class V>
struct Nadam {
  V decay, shrink, keep1, beta2, keep2, step_size, second_step, bias2_sqrt, eps;
  Nadam(const OptimStepArgs& a, const OptimTensor& t)
      : decay(a.decoupled ? 0.0 : a.weight_decay), shrink(a.decoupled ? 1 - a.lr * a.weight_decay : 1.0), keep1(1 - a.beta1),
        beta2(a.beta2), keep2(1 - a.beta2), step_size(t.step_size), second_step(t.second_step), bias2_sqrt(t.bias2_sqrt),
        eps(a.eps) {}
  HWY_INLINE void operator()(V& p, V g, V* s) const {
    p = p * shrink;
    g = g + decay * p;
    s[0] = s[0] + keep1 * (g - s[0]);
    s[1] = beta2 * s[1] + keep2 * g * g;
    const V size = sqrt(s[1]) / bias2_sqrt + eps;
    p = p - step_size * g / size - second_step * s[0] / size;
  }
};

/// RAdam (Liu et al. 2020). `first`: the variance is not tractable yet, and the step is plain momentum.
template <class V>
struct Radam {
  V decay, shrink, keep1, beta2, keep2, step_size, eps;
  bool plain;
  Radam(const OptimStepArgs& a, const OptimTensor& t)
      : decay(a.decoupled ? 0.0 : a.weight_decay), shrink(a.decoupled ? 1 - a.lr * a.weight_decay : 1.0), keep1(1 - a.beta1),
        beta2(a.beta2), keep2(1 - a.beta2), step_size(t.step_size), eps(a.eps), plain(t.first) {}
  HWY_INLINE void operator()(V& p, V g, V* s) const {
    p = p * shrink;
    g = g + decay * p;
    s[0] = s[0] + keep1 * (g - s[0]);
    s[1] = beta2 * s[1] + keep2 * g * g;
    const V change = step_size * s[0];
    p = p - (plain ? change : change / (sqrt(s[1]) + eps));
  }
};

/// Rprop (Riedmiller, Braun 1993). States: the gradient before, and the step size of each element.
template <class V>
struct Rprop {
  V shrink, grow, smallest, largest;
  Rprop(const OptimStepArgs& a, const OptimTensor&) : shrink(a.beta1), grow(a.beta2), smallest(a.smallest), largest(a.largest) {}
  HWY_INLINE void operator()(V& p, V g, V* s) const {
    const V agreement = g * s[0];
    V factor = select(agreement > V(0.0), grow, select(agreement < V(0.0), shrink, V(1.0)));
    factor = select(isnan(agreement), agreement, factor);
    s[1] = minimum(maximum(s[1] * factor, smallest), largest);
    g = select(agreement < V(0.0), V(0.0), g);  // after a jump over a minimum this element rests
    const V step = select(g > V(0.0), s[1], select(g < V(0.0), -s[1], V(0.0)));
    p = p - select(isnan(g), g, step);
    s[0] = g;
  }
};

/// Averaged SGD (Polyak, Juditsky 1992). `step_size` is the decayed rate, `second_step` the weight of this point in the average.
template <class V>
struct Asgd {
  V weight_decay, shrink, rate, weight;
  Asgd(const OptimStepArgs& a, const OptimTensor& t)
      : weight_decay(a.weight_decay), shrink(1 - a.dampening * t.step_size), rate(t.step_size), weight(t.second_step) {}
  HWY_INLINE void operator()(V& p, V g, V* s) const {
    g = g + weight_decay * p;
    p = p * shrink - rate * g;
    s[0] = s[0] + (p - s[0]) * weight;
  }
};

/// `kStates`: how many states there are, the first ones; -1: to be found out.
template <class T, template <class> class Rule, int kStates = -1>
void step_range(const OptimStepArgs& args, const OptimTensor& t, int64_t begin, int64_t end) {
  using V = Vec<T>;
  const auto has = [](int k, const auto& s) { return kStates < 0 ? s[k] != nullptr : k < kStates; };
  constexpr int64_t kLanes = static_cast<int64_t>(V::kLanes);
  const Rule<V> rule(args, t);
  const V scale((args.maximize ? -1.0 : 1.0) * args.inverse_scale);
  T* p = static_cast<T*>(t.param);
  const T* g = static_cast<const T*>(t.grad);
  T* state[3] = {static_cast<T*>(t.state[0]), static_cast<T*>(t.state[1]), static_cast<T*>(t.state[2])};
  const auto update = [&](T* param, const T* grad, T* const* s) {
    V value = V::load(param);
    V states[3];
    for (int k = 0; k < 3; ++k) states[k] = has(k, s) ? V::load(s[k]) : V(0.0);
    rule(value, scale * V::load(grad), states);
    value.store(param);
    for (int k = 0; k < 3; ++k) {
      if (has(k, s)) states[k].store(s[k]);
    }
  };
  int64_t i = begin;
  for (; i + kLanes <= end; i += kLanes) {
    T* s[3];
    for (int k = 0; k < 3; ++k) s[k] = has(k, state) ? state[k] + i : nullptr;
    update(p + i, g + i, s);
  }
  if (i == end) return;
  // The last elements go through padded buffers and the same update, so that their bits do not depend on their place.
  const auto rest = static_cast<size_t>(end - i);
  HWY_ALIGN T buffers[5][V::kLanes] = {};
  std::copy_n(p + i, rest, buffers[0]);
  std::copy_n(g + i, rest, buffers[1]);
  T* s[3];
  for (int k = 0; k < 3; ++k) {
    s[k] = state[k] ? buffers[2 + k] : nullptr;
    if (s[k]) std::copy_n(state[k] + i, rest, s[k]);
  }
  update(buffers[0], buffers[1], s);
  std::copy_n(buffers[0], rest, p + i);
  for (int k = 0; k < 3; ++k) {
    if (s[k]) std::copy_n(s[k], rest, state[k] + i);
  }
}

template <class T>
void step_tensor(const OptimStepArgs& args, const OptimTensor& t, int64_t begin, int64_t end) {
  switch (args.rule) {
    case OptimRule::kSgd: return step_range<T, Sgd>(args, t, begin, end);
    case OptimRule::kAdam: return args.amsgrad ? step_range<T, Adam>(args, t, begin, end) : step_range<T, Adam, 2>(args, t, begin, end);
    case OptimRule::kAdagrad: return step_range<T, Adagrad>(args, t, begin, end);
    case OptimRule::kRmsprop: return step_range<T, Rmsprop>(args, t, begin, end);
    case OptimRule::kAdadelta: return step_range<T, Adadelta>(args, t, begin, end);
    case OptimRule::kAdamax: return step_range<T, Adamax>(args, t, begin, end);
    case OptimRule::kNadam: return step_range<T, Nadam>(args, t, begin, end);
    case OptimRule::kRadam: return step_range<T, Radam>(args, t, begin, end);
    case OptimRule::kRprop: return step_range<T, Rprop>(args, t, begin, end);
    case OptimRule::kAsgd: return step_range<T, Asgd>(args, t, begin, end);
  }
}

}  // namespace

void optim_step_range(const OptimStepArgs& args, const OptimTensor& t, int64_t begin, int64_t end) {
  if (args.dtype == kFloat) {
    step_tensor<float>(args, t, begin, end);
  } else {
    step_tensor<double>(args, t, begin, end);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace taeda::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace taeda {
namespace {

/// Elements that one thread takes at a time.
constexpr int64_t kChunk = 16384;

auto range_function() {
  switch (cpu::simd_target()) {
    case cpu::SimdTarget::Avx512: return &cpu::N_AVX3::optim_step_range;
    case cpu::SimdTarget::Avx2: return &cpu::N_AVX2::optim_step_range;
    default: return &cpu::N_SSE4::optim_step_range;
  }
}

void optim_step_cpu(const KernelContext&, const OptimStepArgs& args) {
  const auto step = range_function();
  int64_t total = 0;
  for (const OptimTensor& t : args.tensors) total += t.n;
  if (total <= 2 * kChunk) {
    for (const OptimTensor& t : args.tensors) step(args, t, 0, t.n);
    return;
  }
  // Chunks of all tensors, numbered one after the other; a chunk never crosses tensors.
  std::vector<int64_t> first_chunk;
  int64_t chunks = 0;
  for (const OptimTensor& t : args.tensors) {
    first_chunk.push_back(chunks);
    chunks += (t.n + kChunk - 1) / kChunk;
  }
  parallel_for(0, chunks, 2, [&](int64_t begin, int64_t end) {
    auto at = static_cast<size_t>(std::upper_bound(first_chunk.begin(), first_chunk.end(), begin) - first_chunk.begin()) - 1;
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      while (at + 1 < first_chunk.size() && first_chunk[at + 1] <= chunk) ++at;
      const OptimTensor& t = args.tensors[at];
      const int64_t start = (chunk - first_chunk[at]) * kChunk;
      step(args, t, start, std::min(t.n, start + kChunk));
    }
  });
}

}  // namespace

constinit DeviceKernel<void(const OptimStepArgs&)> optim_step_kernel{&optim_step_cpu};

}  // namespace taeda
#endif
