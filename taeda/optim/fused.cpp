// SPDX-License-Identifier: Apache-2.0
// Layout matching and launch of fused optimizer steps.
#include "taeda/optim/fused.h"

#include "taeda/core/host_watch.h"
#include "taeda/ops/capture.h"
#include "taeda/ops/functions.h"

namespace taeda::optim {

Tensor make_state(const Tensor& param, double value) {
  return taeda::full_like(param, value, {}, MemoryFormat::Preserve);
}

void FusedStep::add(const Tensor& param, const Tensor& grad, std::initializer_list<Tensor> states, double step_size,
                    double bias2_sqrt, bool first, double second_step) {
  TAEDA_CHECK(grad.sizes() == param.sizes() && grad.scalar_type() == param.scalar_type(),
              "[optim] a gradient must have its parameter's shape and dtype: got ", grad.scalar_type(), grad.sizes(), " for ",
              param.scalar_type(), param.sizes(), "; zero the gradients and run backward again");
  TAEDA_CHECK_NOT_IMPLEMENTED(param.scalar_type() == kFloat || param.scalar_type() == kDouble,
                              "[optim] parameters must be float32 or float64: got ", param.scalar_type(),
                              "; keep float32 master weights");
  Tensor work = param;
  if (!param.is_non_overlapping_and_dense()) {
    work = param.contiguous();
    copies_.push_back({param, work});
  }
  const auto matches = [&](const Tensor& t) {
    return (t.is_contiguous() && work.is_contiguous()) || t.strides() == work.strides();
  };
  for (const Tensor& s : states) {
    TAEDA_CHECK(!s.defined() || (s.sizes() == param.sizes() && s.scalar_type() == param.scalar_type() && matches(s)),
                "[optim] optimizer state must have its parameter's shape, dtype and layout: got ", s.scalar_type(), s.sizes(),
                " for ", param.scalar_type(), param.sizes(), "; load the state that belongs to this model");
  }
  Batch& batch = batches_[param.scalar_type() == kDouble];
  OptimTensor& slice = batch.slices.emplace_back();
  slice.n = work.numel();
  slice.step_size = step_size;
  slice.bias2_sqrt = bias2_sqrt;
  slice.first = first;
  slice.second_step = second_step;
  batch.parameters.push_back(param.unsafeGetTensorImpl());
  batch.tensors.push_back(work);
  batch.tensors.push_back(matches(grad) ? grad : taeda::empty_like(work).copy_(grad));
  for (const Tensor& s : states) batch.tensors.push_back(s);
  batch.tensors.resize(5 * batch.slices.size());
}

namespace {

/// Fills in the addresses and runs the kernel.
void launch(OptimStepArgs& args, std::vector<OptimTensor>& slices, const Tensor* tensors) {
  for (OptimTensor& slice : slices) {
    slice.param = tensors[0].impl().data();
    slice.grad = tensors[1].impl().data();
    for (int k = 0; k < 3; ++k) slice.state[k] = tensors[2 + k].defined() ? tensors[2 + k].impl().data() : nullptr;
    tensors += 5;
  }
  args.tensors = slices;
  optim_step_kernel(Device(), args);
}

// A step as a capture sees it. Words: rule, dtype, switches, whether each tensor steps first; numbers: the options, then three for each tensor.
void describe(capture::Call& call, const OptimStepArgs& a, const std::vector<OptimTensor>& slices, const std::vector<Tensor>& tensors) {
  call.add(a.rule);
  call.add(a.dtype);
  call.add(step_switches(a));
  for (const double option : step_options(a)) call.add_number(option);
  for (size_t i = 0; i < slices.size(); ++i) {
    call.add(slices[i].first);
    call.add_number(slices[i].step_size);
    call.add_number(slices[i].bias2_sqrt);
    call.add_number(slices[i].second_step);
    for (size_t k = 0; k < 5; ++k) {
      if (k != 1 && tensors[5 * i + k].defined()) call.written.push_back(static_cast<uint32_t>(5 * i + k));
      call.add(tensors[5 * i + k]);
    }
  }
}
void replay(const capture::Replay& call) {
  OptimStepArgs a{};
  a.rule = static_cast<OptimRule>(call.words[0]);
  a.dtype = static_cast<ScalarType>(call.words[1]);
  const uint64_t switches = call.words[2];
  a.nesterov = switches & 1, a.amsgrad = switches >> 1 & 1, a.decoupled = switches >> 2 & 1, a.centered = switches >> 3 & 1;
  a.maximize = switches >> 4 & 1;
  const auto number = [&](size_t i) { return call.numbers[i].unchecked<double>(); };
  a.lr = number(0), a.weight_decay = number(1), a.eps = number(2), a.beta1 = number(3), a.beta2 = number(4);
  a.dampening = number(5), a.smallest = number(6), a.largest = number(7), a.inverse_scale = number(8);
  std::vector<OptimTensor> slices(call.tensor_count / 5);
  // Each number took a word for its kind.
  const uint64_t* words = call.words + 3 + kStepOptions;
  for (size_t i = 0; i < slices.size(); ++i, words += 1 + kStepSliceNumbers) {
    slices[i].first = words[0] != 0;
    slices[i].n = call.tensors[5 * i].numel();
    const size_t first = kStepOptions + kStepSliceNumbers * i;
    slices[i].step_size = number(first);
    slices[i].bias2_sqrt = number(first + 1);
    slices[i].second_step = number(first + 2);
  }
  launch(a, slices, call.tensors);
}

}  // namespace

/// For a static call of compile(), which refuses rules whose host side it cannot go on with.
std::shared_ptr<capture::NumberSource> FusedStep::source(const Batch& batch) const {
  if (!rule_) return nullptr;
  auto source = std::make_shared<StepSource>(*optimizer_, group_, *rule_);
  for (size_t i = 0; i < batch.parameters.size(); ++i) source->add(batch.parameters[i], batch.tensors[5 * i + 2].defined());
  if (!source->is_unchanged()) return nullptr;
  return source;
}

void FusedStep::run() {
  for (Batch& batch : batches_) {
    if (batch.slices.empty()) continue;
    args_.dtype = batch.dtype;
    const auto all = [&] { launch(args_, batch.slices, batch.tensors.data()); };
    if (!capture::active()) {
      all();
    } else {
      capture::Call call({.name = "optimizer_step", .run = replay});
      describe(call, args_, batch.slices, batch.tensors);
      if (TAEDA_UNLIKELY(taeda::detail::tls_host_watch != nullptr)) {
        call.source = source(batch);
        if (!call.source) taeda::detail::refuse_replay("this optimizer's step, or one that infinite gradients may skip, needs its own code");
      }
      capture::through<void>(call, all);
    }
    for (size_t i = 0; i < batch.tensors.size(); ++i) {
      if (i % 5 != 1 && batch.tensors[i].defined()) batch.tensors[i].mutable_impl().count_write();
    }
  }
  for (Copy& c : copies_) c.param.copy_(c.work);
}

}  // namespace taeda::optim
