// SPDX-License-Identifier: Apache-2.0
#include "taeda/graph/fused.h"

#include "taeda/cpu/pointwise_abi.h"
#include "taeda/ops/pointwise_recorded.h"

namespace taeda::graph {

namespace {

std::optional<Tensor> optional_tensor(const Value& v) { return v.is_none() ? std::optional<Tensor>() : v.tensor(); }

Value fused_convolution(const Value* a) {
  const detail::ConvEpilogue after{a[kAdd].is_none() ? Tensor() : a[kAdd].tensor(), a[kRelu].to_bool(), {}};
  return Value(detail::convolution_with(a[kInput].tensor(), a[kWeight].tensor(), optional_tensor(a[kBias]), window_of(a), after));
}

Value call_pointwise_gradient(const Value* a) { return Value(pointwise_gradient(gradient_kernel(a), a)); }

}  // namespace

const OpInfo kPointwiseGradient{
    "pointwise_gradient",
    "",
    "pointwise_gradient(str kernel, ScalarType dtype, Tensor grad, Tensor[] saved, Scalar[] numbers) -> Tensor",
    &call_pointwise_gradient,
    OpKind::kPointwise,
    "none: a gradient itself",
    "Cotangent times derivative.",
    {},
    "",
    "graph"};

const OpInfo kFusedConvolution{
    "fused_convolution",
    "",
    "fused_convolution(Tensor input, Tensor weight, Tensor? bias, Tensor? add, int[] stride, int[] padding, int[] dilation, int groups, bool relu) -> Tensor",
    &fused_convolution,
    OpKind::kPlain,
    "none: made for inference",
    "Convolution, + add, relu.",
    {},
    "",
    "graph"};

detail::ConvWindow window_of(const Value* a) {
  const auto list = [](const Value& v) { return DimVector(IntArrayRef(v.int_list())); };
  return {list(a[kStride]), list(a[kPadding]), list(a[kDilation]), a[kGroups].to_int()};
}

int gradient_kernel(const Value* a) {
  const int kernel = cpu::find_pointwise_kernel(a[kKernel].string().c_str());
  const auto* info = kernel < 0 ? nullptr : &cpu::pointwise_kernel_info(static_cast<cpu::PointwiseKernelId>(kernel));
  const size_t saved = a[kSaved].list().size(), numbers = a[kNumbers].list().size();
  TAEDA_CHECK_VALUE(info && a[kKernel].string().find("_grad_") != std::string::npos && info->inputs == saved + 1 && info->attrs == numbers &&
                        is_floating_type(static_cast<ScalarType>(a[kDtype].to_int())),
                    "[pointwise_gradient] the kernel must be a gradient of that many arguments, in a floating dtype: got ", a[kKernel].string(), ", ", saved,
                    " tensors and ", numbers, " numbers; correct the node");
  return kernel;
}

Tensor pointwise_gradient(int kernel, const Value* a) {
  const auto& info = cpu::pointwise_kernel_info(static_cast<cpu::PointwiseKernelId>(kernel));
  const Tensor& grad = a[kGrad].tensor();
  pointwise::Operand in[pointwise::kMaxGradientInputs];
  in[0] = pointwise::Operand(grad);
  int n = 1;
  for (const Value& item : a[kSaved].list()) {
    if (item.is_number()) {
      in[n++] = pointwise::Operand(item.to_scalar());
      continue;
    }
    const Tensor& t = item.tensor();
    const bool mask = (info.mask_inputs >> n) & 1;
    TAEDA_CHECK_VALUE(IntArrayRef(broadcast_sizes(grad.sizes(), t.sizes(), "pointwise_gradient")) == grad.sizes() && (!mask || item_size(t.scalar_type()) == 1),
                      "[pointwise_gradient] what is saved broadcasts to the cotangent and a condition is bool: got ", item.describe(), " for ", grad.sizes(),
                      "; correct the node");
    in[n++] = pointwise::Operand(t);
  }
  SmallVector<Scalar, 4> numbers;
  for (const Value& number : a[kNumbers].list()) numbers.push_back(number.to_scalar());
  return pointwise::run_gradient(kernel, static_cast<ScalarType>(a[kDtype].to_int()), in, n, numbers.data(), static_cast<int>(numbers.size()), info.name);
}

const OpInfo* fused_operator(std::string_view name) {
  for (const OpInfo* op : {&kFusedConvolution, &kPointwiseGradient}) {
    if (name == op->name) return op;
  }
  return nullptr;
}

}  // namespace taeda::graph
