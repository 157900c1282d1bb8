// SPDX-License-Identifier: Apache-2.0
// Layout matching and launch of fused optimizer steps.
#include "taeda/optim/fused.h"

#include "taeda/ops/functions.h"

namespace taeda::optim {

Tensor make_state(const Tensor& param, double value) {
  return taeda::full_like(param, value, {}, MemoryFormat::Preserve);
}

void FusedStep::add(const Tensor& param, const Tensor& grad, std::initializer_list<Tensor> states, double step_size,
                    double bias2_sqrt, bool first) {
  TAEDA_CHECK(grad.sizes() == param.sizes() && grad.scalar_type() == param.scalar_type(),
              "[optim] a gradient must have its parameter's shape and dtype: got ", grad.scalar_type(), grad.sizes(), " for ",
              param.scalar_type(), param.sizes(), "; zero the gradients and run backward again");
  TAEDA_CHECK_NOT_IMPLEMENTED(param.scalar_type() == kFloat || param.scalar_type() == kDouble,
                              "[optim] parameters must be float32 or float64: got ", param.scalar_type(),
                              "; keep float32 master weights");
  Entry& e = entries_.emplace_back();
  e.param = param.detach();
  e.work = e.param.is_non_overlapping_and_dense() ? e.param : e.param.contiguous();
  const auto matches = [&](const Tensor& t) {
    return (t.is_contiguous() && e.work.is_contiguous()) || (t.strides() == e.work.strides());
  };
  e.grad = grad.detach();
  if (!matches(e.grad)) e.grad = taeda::empty_like(e.work).copy_(e.grad);
  e.slice.param = e.work.impl().data();
  e.slice.grad = e.grad.impl().data();
  e.slice.n = e.work.numel();
  e.slice.step_size = step_size;
  e.slice.bias2_sqrt = bias2_sqrt;
  e.slice.first = first;
  size_t k = 0;
  for (const Tensor& s : states) {
    e.states[k] = s;
    if (s.defined()) {
      TAEDA_CHECK(s.sizes() == param.sizes() && s.scalar_type() == param.scalar_type() && matches(s),
                  "[optim] optimizer state must have its parameter's shape, dtype and layout: got ", s.scalar_type(), s.sizes(),
                  " for ", param.scalar_type(), param.sizes(), "; load the state that belongs to this model");
    }
    e.slice.state[k] = s.defined() ? s.impl().data() : nullptr;
    ++k;
  }
  for (; k < 3; ++k) e.slice.state[k] = nullptr;
}

void FusedStep::run() {
  for (const ScalarType dtype : {kFloat, kDouble}) {
    std::vector<OptimTensor> slices;
    for (const Entry& e : entries_) {
      if (e.param.scalar_type() == dtype && e.slice.n > 0) slices.push_back(e.slice);
    }
    if (slices.empty()) continue;
    args_.dtype = dtype;
    args_.tensors = slices;
    optim_step_kernel(Device(), args_);
  }
  for (Entry& e : entries_) {
    if (!e.work.is_same(e.param)) {
      e.param.copy_(e.work);
    } else {
      e.param.mutable_impl().count_write();
    }
    for (Tensor& s : e.states) {
      if (s.defined()) s.mutable_impl().count_write();
    }
  }
}

}  // namespace taeda::optim
